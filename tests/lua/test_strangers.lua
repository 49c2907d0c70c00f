-- Proposers that misbehave: whatever they do, the run goes on from the best or ends with one line, and nothing is lost.
local fs = require "ako.fs"
local git = require "ako.git"
local process = require "ako.process"
local proposing = require "proposing"
local scripted = require "scripted"
local t = require "ako.tap"

local run, state, verdicts, holds = proposing.run, proposing.state, proposing.verdicts, proposing.holds

local ONCE = { policy = { budget = proposing.budget { no_ops = 1 } } }

local function sh(folder, text)
    local who = { GIT_AUTHOR_NAME = "a", GIT_AUTHOR_EMAIL = "a@b", GIT_COMMITTER_NAME = "a",
        GIT_COMMITTER_EMAIL = "a@b" }
    local r = assert(process.run { "sh", "-c", text, cwd = folder, env = who })
    t.ok(r.ok, text .. ": " .. r.stderr)
    return r.stdout
end

-- A task in a repository with a commit, an untracked file of the user's and an uncommitted edit beside the solution.
local function repository()
    local folder = scripted.task_folder "time=100"
    assert(fs.write(folder .. "/notes.md", "first\n"))
    sh(folder, "git init -q -b main . && git add . && git commit -qm begun")
    assert(fs.write(folder .. "/notes.md", "edited\n"))
    assert(fs.write(folder .. "/mine.txt", "untracked\n"))
    return folder
end

local function users_own(folder)
    t.eq(fs.read(folder .. "/notes.md"), "edited\n")
    t.eq(fs.read(folder .. "/mine.txt"), "untracked\n")
end

-- Runs that a proposal of the first round spoils: it is not tried for this reason, the best is back, and the second
-- round's honest edit is tried.
local function is_survived(spoil, reason)
    local r = run("if [ $AKO_PROPOSAL = 1 ]; then " .. spoil .. "\nelif [ $AKO_PROPOSAL = 2 ]; then edit time=50; fi")
    t.eq(r.code, 0, spoil)
    t.match(r.stderr, "not tried %(1 of 3 in a row%): " .. reason)
    t.eq(verdicts(r.folder), { "keep PASSED", "keep PASSED" }, spoil)
    holds(r.folder, "time=50")
    return r
end

local function is_alive(pid) return fs.exists("/proc/" .. pid) end

t.test("one that hangs, and one that ignores TERM, is ended at its time", function()
    for _, text in ipairs { "sleep 1000", "trap '' TERM HUP INT; while :; do sleep 1; done" } do
        local r = run(text, { policy = ONCE.policy, verb_options = { propose_seconds = 1 } })
        t.match(r.stderr, "no proposal within 1 s\n")
        t.eq(r.code, 0)
    end
end)

t.test("a daemon that it leaves does not outlive the proposal, nor edit what is measured", function()
    local r = run([[setsid sh -c 'echo $$ > "$1"; while :; do sleep 0.05; echo "// script: time=1" > "$2"; done' sh \
        "$PWD/pid" "$AKO_SOLUTION" > /dev/null 2>&1 &
        while [ ! -s pid ]; do sleep 0.02; done
        [ $AKO_PROPOSAL = 1 ] && edit time=50]])
    t.eq(r.code, 0)
    local pid = fs.read(r.folder .. "/pid"):match("%d+")
    t.ok(not is_alive(pid), "the daemon is gone")
    t.eq(proposing.state(r.folder).finished.status, "PASSED")
end)

t.test("the solution deleted, or something else in its place", function()
    is_survived("rm solution/kernel.c", "solution/kernel.c is gone\n")
    is_survived("rm -r solution", "solution/kernel.c is gone\n")
    is_survived("rm solution/kernel.c; ln -s /etc/hostname solution/kernel.c",
        "solution/kernel.c is a symbolic link now %(what it left is kept: [^\n]*/proposals/1.left/solution/kernel.c%)")
    is_survived("rm solution/kernel.c; mkdir solution/kernel.c; touch solution/kernel.c/x",
        "solution/kernel.c is a folder now")
    is_survived("rm solution/kernel.c; mkfifo solution/kernel.c", "solution/kernel.c is no plain file now")
    is_survived("mv solution other; ln -s other solution", "solution is a symbolic link now")
    is_survived("rm -r solution; echo x > solution", "solution is a file now")
    is_survived("truncate -s 1G solution/kernel.c",
        "[^\n]*kernel.c is larger than 16777216 bytes %(what it left is kept: ")
    is_survived("chmod 000 solution/kernel.c; [ -r solution/kernel.c ] && rm solution/kernel.c", "")
    is_survived("rm solution/kernel.c; : > solution/kernel.c; false", "exit 1 %(what it left is kept: refs/ako/")
end)

t.test("a link that leads out of the workspace is never written through", function()
    local victim = t.tmpdir() .. "/victim"
    assert(fs.write(victim, "precious\n"))
    is_survived(("rm solution/kernel.c; ln -s %s solution/kernel.c"):format(victim), "solution/kernel.c is a symbolic")
    is_survived(("rm -r solution; mkdir %s.d; ln -s %s.d solution"):format(victim, victim), "solution is a symbolic")
    t.eq(fs.read(victim), "precious\n")
    t.eq(#fs.list(victim .. ".d"), 0)
end)

t.test("a hard link in the place of the solution: the file that it leads to is not written", function()
    local victim = t.tmpdir() .. "/victim"
    assert(fs.write(victim, scripted.source "time=170"))
    local r = run(("case $AKO_PROPOSAL in 1) ln -f %s solution/kernel.c;; 2) ln -f %s solution/kernel.c; exit 1;; "
        .. "3) edit time=50;; esac"):format(victim, victim))
    t.eq(r.code, 0, r.stderr)
    t.eq(fs.read(victim), scripted.source "time=170")
    t.eq(verdicts(r.folder), { "keep PASSED", "revert PASSED", "keep PASSED" })
    holds(r.folder, "time=50")
end)

t.test("a solution of several files", function()
    local folder = scripted.task_folder "time=100"
    assert(fs.write(folder .. "/solution/helper.h", "int one;\n"))
    local text = fs.read(folder .. "/task.lua"):gsub('"solution/kernel.c"', '%0, "solution/helper.h"')
    assert(fs.write(folder .. "/task.lua", text))
    local r = run([[echo "$AKO_SOLUTION_FILES" > files
        case $AKO_PROPOSAL in 1) echo 'int two;' > solution/helper.h; edit time=50;;
        2) rm solution/helper.h; edit time=10;; 3) echo 'int three;' > solution/helper.h; edit time=70;;
        4) echo 'int four;' > solution/helper.h;; esac]], { folder = folder })
    t.eq(r.code, 0, r.stderr)
    t.eq(fs.read(folder .. "/solution/helper.h"), "int two;\n")
    holds(folder, "time=50")
    t.match(r.stderr, "solution/helper.h is gone %(what it left is kept: refs/ako/")
    local place = fs.absolute(folder) .. "/solution/"
    t.eq(fs.read(folder .. "/files"), place .. "kernel.c\n" .. place .. "helper.h\n")
    t.eq(verdicts(folder), { "keep PASSED", "keep PASSED", "revert PASSED", "revert PASSED" })
end)

t.test("bytes that are no source are a trial that fails, not a crash", function()
    local r = run([[case $AKO_PROPOSAL in 1) printf 'a\0b\377' > solution/kernel.c;; 2) : > solution/kernel.c;;
        3) head -c 3000000 /dev/zero | tr '\0' x > solution/kernel.c;; 4) edit time=50;; esac]])
    t.eq(r.code, 0)
    local history = state(r.folder).history
    t.eq(history[#history].verdict, "keep")
    holds(r.folder, "time=50")
end)

t.test("the policy, the task or the reference edited: REJECTED with the file's name, and the run ends", function()
    local policy_file = t.tmpdir() .. "/policy.lua"
    assert(fs.write(policy_file, "return {}\n"))
    for name, edit in pairs { ["task.lua"] = "echo >> task.lua", ["reference.c"] = "rm reference.c",
        [policy_file] = "echo >> " .. policy_file } do
        local folder = scripted.task_folder "time=100"
        local ctx = scripted.context(folder, { policy = { budget = proposing.BUDGET } },
            { propose = proposing.SHELL .. "edit time=10; " .. edit })
        ctx.path = policy_file
        t.eq(require("ako.verbs").run(ctx), 0, name)
        t.eq(verdicts(folder), { "keep PASSED", "revert REJECTED" }, name)
        t.match(ctx.console.stdout, ("ended: protected file %s changed since the session began\n"):format(
            name:gsub("%p", "%%%0")))
        t.eq(state(folder).history[2].code, "PROTECTED")
        holds(folder, "time=100")
    end
end)

t.test("a protected file edited while the solution is no file at all: the same", function()
    local r = run "rm solution/kernel.c; mkdir solution/kernel.c; echo >> task.lua"
    t.eq(verdicts(r.folder), { "keep PASSED", "revert REJECTED" })
    t.match(r.stdout, "ended: protected file task.lua changed since the session began\n")
    holds(r.folder, "time=100")
end)

-- git

t.test("commits of its own, other branches: said, left as they are, and the session's records stand", function()
    local folder = repository()
    local r = run([[case $AKO_PROPOSAL in
        1) edit time=50; git -c user.name=p -c user.email=p@q commit -qam mine;;
        2) git checkout -q -b elsewhere; edit time=25;; esac]], { folder = folder })
    t.eq(r.code, 0)
    t.match(r.stderr, "the proposer has moved main from %x+ to %x+; that stays\n")
    t.match(r.stderr, "the proposer has switched from main to elsewhere; that stays\n")
    t.eq(verdicts(folder), { "keep PASSED", "keep PASSED", "keep PASSED" })
    t.eq(sh(folder, "git rev-parse --abbrev-ref HEAD"), "elsewhere\n")
    t.eq(sh(folder, "git log --format=%s main"), "mine\nbegun\n")
    users_own(folder)
    holds(folder, "time=25")
end)

t.test("the session's own branch checked out or moved: another name is taken, nothing is rewritten", function()
    local folder = repository()
    local r = run([[case $AKO_PROPOSAL in
        1) edit time=50;;
        2) git stash -q; git checkout -q "ako/$AKO_SESSION"; edit time=25;;
        3) edit time=12; git -c user.name=p -c user.email=p@q commit -qam mine;; esac]], { folder = folder })
    t.eq(r.code, 0)
    local known = state(folder)
    t.eq(verdicts(folder), { "keep PASSED", "keep PASSED", "keep PASSED", "keep PASSED" })
    t.match(known.branch.ref, "%-2$")
    t.eq(sh(folder, "git log --format=%s -1"), "mine\n")
    t.eq(known.repo:read(known.branch.ref, "solution/kernel.c"), scripted.source "time=12")
    holds(folder, "time=12")
end)

t.test("git reset --hard, clean -fdx, stash, gc do nothing to the session", function()
    for _, undo in ipairs { "git reset -q --hard", "git clean -qfdx", "git stash -q -u", "git gc -q --prune=now",
        "git checkout -q .", "git rm -q --cached solution/kernel.c" } do
        local folder = repository()
        local r = run(("case $AKO_PROPOSAL in 1) edit time=50;; 2) %s;; 3) edit time=25;; esac"):format(undo),
            { folder = folder })
        t.eq(r.code, 0, undo)
        local history = state(folder).history
        t.eq(history[#history].time_ns.median, 25000, undo)
        holds(folder, "time=25")
    end
end)

t.test("a detached HEAD, and a rebase left in the middle", function()
    local folder = repository()
    local r = run([[case $AKO_PROPOSAL in 1) git checkout -q --detach; edit time=50;;
        2) mkdir -p .git/rebase-merge; edit time=25;; esac]], { folder = folder })
    t.eq(r.code, 0)
    t.match(r.stderr, "the proposer has switched from main to no branch; that stays\n")
    holds(folder, "time=25")
    users_own(folder)
end)

t.test("what it does to index, config and hooks is its own affair", function()
    local folder = repository()
    local r = run([[if [ $AKO_PROPOSAL = 1 ]; then edit time=50; : > .git/index.lock; git config core.autocrlf true
        printf '#!/bin/sh\nexit 1\n' > .git/hooks/reference-transaction; chmod +x .git/hooks/reference-transaction
        echo garbage > .git/index; fi]], { folder = folder })
    t.eq(r.code, 0)
    holds(folder, "time=50")
    t.eq(verdicts(folder), { "keep PASSED", "keep PASSED" })
end)

t.test("git's settings turned upside down: the session does not mind, or one line says what is wrong", function()
    for _, spoil in ipairs { "git config core.worktree /tmp", "echo '*' > .gitignore",
        "echo '* text eol=crlf ident filter=lfs working-tree-encoding=UTF-16' > .gitattributes",
        "git config core.fileMode false; chmod 755 solution/kernel.c", "git config core.symlinks false",
        "git config extensions.worktreeConfig true", "git config core.hooksPath /nowhere", "git config user.name ''",
        "git config gc.auto 1; git gc -q --auto", "git config core.ignorecase true", "git pack-refs --all",
        "git branch -qD ako/$AKO_SESSION" } do
        local r = run(("case $AKO_PROPOSAL in 1) edit time=50; %s;; 2) edit time=25;; esac"):format(spoil))
        t.eq(r.code, 0, spoil .. r.stderr)
        t.eq(verdicts(r.folder), { "keep PASSED", "keep PASSED", "keep PASSED" }, spoil)
        holds(r.folder, "time=25")
    end
    for _, spoil in ipairs { "rm .git/HEAD", "echo garbage > .git/HEAD", "echo garbage > .git/config",
        "rm -r .git/refs", "git config core.bare true" } do
        local r = run(("case $AKO_PROPOSAL in 1) edit time=50; %s;; 2) edit time=25;; esac"):format(spoil))
        t.ok(r.code == 0 or r.stderr:find("\nako%-lua: [^\n]+\n$"), spoil)
        t.ok(not r.stderr:find("traceback"), r.stderr)
    end
end)

-- The records

-- A run that a proposer's work on the records ends: one line, the best back in the workspace.
local function is_ended(spoil, line, code)
    local folder = scripted.task_folder "time=100"
    local r = run("if [ $AKO_PROPOSAL = 1 ]; then edit time=50; else edit time=25; " .. spoil .. "\nfi",
        { folder = folder })
    t.eq(r.code, code or 125, spoil)
    t.match(r.stderr, "\nako%-lua: " .. line .. "\n$")
    return folder, r
end

t.test("the journal written to, deleted or replaced: the run ends with its name, the best is back", function()
    local changed = "[^\n]*/journal.jsonl was changed while the proposer ran; restore the file from a copy, or begin "
        .. "another session with %-%-session=NAME %(the best is back%)"
    for _, spoil in ipairs {
        'echo \'{"kind":"finish","v":1}\' >> "$AKO_RECORDS/journal.jsonl"',
        'sed -i s/100000/900000/ "$AKO_RECORDS/journal.jsonl"',
        ': > "$AKO_RECORDS/journal.jsonl"',
        'rm "$AKO_RECORDS/journal.jsonl"',
        'rm "$AKO_RECORDS/journal.jsonl"; mkfifo "$AKO_RECORDS/journal.jsonl"',
        'mv "$AKO_RECORDS/journal.jsonl" j; ln -s "$PWD/j" "$AKO_RECORDS/journal.jsonl"',
        'rm -r "$AKO_RECORDS"', "rm -r .git/ako" } do
        local folder = is_ended(spoil, changed)
        holds(folder, "time=50")
    end
end)

t.test("notes of its own are taken, proposal after proposal; a change after them is still seen", function()
    local note = '"$AKO_LUA" policies/kernelbench.lua note --topic=idea -m "idea $AKO_PROPOSAL" || exit 9; '
    local r = run(note .. "edit time=$((100 - AKO_PROPOSAL)); [ $AKO_PROPOSAL -le 3 ] || "
        .. 'sed -i -e "1s/scale/slate/" "$AKO_RECORDS/journal.jsonl"')
    t.eq(r.code, 125, r.stderr)
    t.match(r.stderr, "/journal.jsonl was changed while the proposer ran")
    holds(r.folder, "time=97")
    local records = assert(fs.list(r.folder .. "/.git/ako"))[1]
    local _, notes = fs.read(("%s/.git/ako/%s/journal.jsonl"):format(r.folder, records)):gsub('"text":"idea %d"', "")
    t.eq(notes, 4)
end)

t.test("a torn line behind the journal's end is dropped, as that of a note which was killed in the middle", function()
    for _, text in ipairs { "garbage", '{"kind":"note"', '{"kind":"finish"' } do
        local r = run(("case $AKO_PROPOSAL in 1) edit time=50; printf '%s' >> $AKO_RECORDS/journal.jsonl;; "
            .. "2) edit time=25;; esac"):format(text))
        t.eq(r.code, 0)
        t.eq(verdicts(r.folder), { "keep PASSED", "keep PASSED", "keep PASSED" })
    end
end)

t.test("other files of the records gone: they are made again or missed only where they are read", function()
    for _, spoil in ipairs { 'rm -rf "$AKO_RECORDS/trials"', 'rm -f "$AKO_RECORDS"/index*', 'rm -f "$AKO_BRIEF"',
        'rm -rf "$AKO_RECORDS/proposals"', 'rm -f "$AKO_HYPOTHESIS_FILE"; mkdir "$AKO_HYPOTHESIS_FILE"',
        'rm -f "$AKO_HYPOTHESIS_FILE"; mkfifo "$AKO_HYPOTHESIS_FILE"', 'ln -sf /dev/zero "$AKO_HYPOTHESIS_FILE"',
        'head -c 1000000 /dev/urandom > "$AKO_HYPOTHESIS_FILE"', 'rm -f "$AKO_BRIEF"; mkdir "$AKO_BRIEF"' } do
        local r = run(("case $AKO_PROPOSAL in 1) edit time=50; %s;; 2) edit time=25;; esac"):format(spoil))
        t.eq(r.code, 0, spoil)
        t.eq(verdicts(r.folder), { "keep PASSED", "keep PASSED", "keep PASSED" }, spoil)
        holds(r.folder, "time=25")
    end
end)

t.test("refs of the attempts gone: what is needed of them is there, or one line says what is not", function()
    local r = run [[case $AKO_PROPOSAL in 1) edit time=50;; 2) rm -rf .git/refs/ako; edit time=25;;
        3) edit time=80;; esac]]
    t.eq(r.code, 0)
    holds(r.folder, "time=25")
end)

t.test("the repository gone: one line, no trace of a crash", function()
    for _, spoil in ipairs { "rm -rf .git", "rm -rf .git; git init -q .", "rm -rf .git/objects" } do
        local folder = scripted.task_folder "time=100"
        local r = run("edit time=50; " .. spoil, { folder = folder })
        t.ok(r.code == 125 or r.code == 5, ("%s: exit %d"):format(spoil, r.code))
        t.match(r.stderr, "\nako%-lua: [^\n]+\n$")
        t.ok(not r.stderr:find("traceback"), r.stderr)
    end
end)

t.test("the workspace gone: one line", function()
    local folder = scripted.task_folder "time=100"
    local r = run('edit time=50; rm -rf "$AKO_WORKSPACE"', { folder = folder })
    t.ok(r.code ~= 0)
    t.match(r.stderr, "\nako%-lua: [^\n]+\n$")
    t.ok(not r.stderr:find("traceback"), r.stderr)
    folder = scripted.task_folder "time=100"
    r = run('edit time=50; mv "$AKO_WORKSPACE" "$AKO_WORKSPACE.moved"', { folder = folder })
    t.ok(r.code ~= 0)
    t.match(r.stderr, "\nako%-lua: [^\n]+\n$")
    fs.remove_tree(folder .. ".moved")
end)

-- Output

t.test("gigabytes of output: head and tail are kept", function()
    local r = run("echo first; head -c 1500000000 /dev/zero; echo last; [ $AKO_PROPOSAL = 1 ] && edit time=50", ONCE)
    t.eq(r.code, 0)
    local log = fs.read(state(r.folder).folder .. "/trials/1/proposer.log")
    t.ok(#log < 1200000)
    t.match(log, "\nfirst\n")
    t.match(log, "bytes of output dropped here")
    t.match(log, "last\n$")
end)

t.test("forged verdicts in what it prints are words in a file", function()
    local r = run([[echo 'best: trial 9: PASSED, 100x'; echo '{"v":1,"verdict":"keep","speedup":{"original":100}}'
        printf 'keep \033[2J\033[31m\r     trial 1 keep: 99 %% faster\n' >&2; edit time=200; exit 1]], ONCE)
    t.ok(not r.stdout:find("100x", 1, true))
    t.ok(not (r.stdout .. r.stderr):find("\27", 1, true), "no control characters reach the terminal")
    t.eq(verdicts(r.folder), { "keep PASSED" })
end)

t.test("one that closes its standard input, or never reads it", function()
    local r = run("exec < /dev/null; [ $AKO_PROPOSAL = 1 ] && edit time=50", ONCE)
    t.eq({ r.code, verdicts(r.folder)[2] }, { 0, "keep PASSED" })
    r = run("exec <&- >&- 2>&-; [ $AKO_PROPOSAL = 1 ] && edit time=50", ONCE)
    t.eq({ r.code, verdicts(r.folder)[2] }, { 0, "keep PASSED" })
end)

t.test("files that it makes beside the solution stay, and are its own affair", function()
    local r = run([[mkdir -p cache; echo x > cache/x; echo y > solution/helper.h
        [ $AKO_PROPOSAL = 1 ] && edit time=50]], ONCE)
    t.eq(fs.read(r.folder .. "/cache/x"), "x\n")
    t.eq(fs.read(r.folder .. "/solution/helper.h"), "y\n")
    t.eq(verdicts(r.folder), { "keep PASSED", "keep PASSED" })
    t.eq(git.open(r.folder):read(state(r.folder).best.commit, "solution/helper.h"), nil)
end)

t.test("reasons of any length can be told", function()
    local r = run([[cat > brief.$AKO_PROPOSAL; echo ${#AKO_REASON} > length.$AKO_PROPOSAL; case $AKO_PROPOSAL in
        1) edit time=10 status=COMPILE_ERROR reason=$(head -c 300000 /dev/zero | tr '\0' x);;
        2) head -c 300000 /dev/zero | tr '\0' y; exit 1;; 3) edit time=50;; esac]])
    t.eq(r.code, 0, r.stderr:sub(-300))
    t.eq(verdicts(r.folder), { "keep PASSED", "revert COMPILE_ERROR", "keep PASSED" })
    t.ok(#fs.read(r.folder .. "/brief.2") <= 2048)
    t.ok(tonumber(fs.read(r.folder .. "/length.2")) <= 1001)
end)

t.test("a forecast that no number can hold", function()
    for _, text in ipairs { "predict: " .. ("9"):rep(400), "predict: -" .. ("9"):rep(400), "predict: 1.2.3",
        "predict: .", "predict: 99999999", "predict: -101" } do
        local r = run(('[ $AKO_PROPOSAL = 1 ] && edit time=50; echo "why\n%s" > "$AKO_HYPOTHESIS_FILE"'):format(text))
        t.eq(r.code, 0, text .. r.stderr)
        local record = state(r.folder).history[2]
        t.eq(record.predict, nil)
        t.match(record.hypothesis, "^why predict: ")
    end
end)

t.test("blanks and quotes in the workspace's name", function()
    local folder = t.tmpdir() .. "/it's a \"place\" $HOME"
    assert(fs.mkdirs(folder))
    local source = scripted.task_folder "time=100"
    assert(process.run { "cp", "-r", source .. "/.", folder })
    local r = run("edit time=50; cp \"$AKO_BRIEF\" b", { folder = folder })
    t.eq(r.code, 0, r.stderr)
    holds(folder, "time=50")
end)

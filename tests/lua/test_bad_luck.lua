-- What can be wrong with a workspace and its repository that is nobody's mistake: each gets one clear line and the
-- right exit code, or simply works; nothing is lost.
local clock = require "ako.clock"
local fs = require "ako.fs"
local git = require "ako.git"
local journal = require "ako.journal"
local process = require "ako.process"
local program = require "program"
local scripted = require "scripted"
local session = require "ako.session"
local steps = require "steps"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local edit, present = scripted.edit, scripted.present

-- A verb's exit code and all that it has said on stderr.
local function outcome(verb, folder, host, verb_options)
    local ctx = scripted.logging_context(folder, host, verb_options)
    return verbs[verb](ctx), ctx.console.stderr, ctx
end

-- It ends with this code and one line of the program's.
local function says(folder, verb, code, pattern, host)
    local got, said = outcome(verb, folder, host)
    t.eq(got, code, said)
    t.eq(select(2, ("\n" .. said):gsub("\nako%-lua: ", "")), 1, said)
    t.match(said, "ako%-lua: " .. pattern .. "[^\n]*\n$")
end

local function try(folder, want)
    local code, said = outcome("try", folder)
    t.eq(code, want or 0, said)
    return said
end

local function newest(folder)
    local repo <close> = assert(git.open(folder))
    return assert(session.newest { repo = repo, folder = folder })
end

-- Two trials in a workspace whose state is odd: they work, and the user's things stay as they are.
local function works(folder, users)
    try(folder)
    edit(folder, "time=90")
    try(folder)
    edit(folder, "time=95")
    try(folder, 1)
    t.eq(present(folder), scripted.source "time=90")
    t.eq(#steps.check(folder, users).history, 3)
end

-- Runs a verb in a process that sees these paths of the workspace read-only; nil where that cannot be made.
local function read_only(folder, paths, verb)
    local command = { "set -e" }
    for _, path in ipairs(paths) do
        local at = folder .. "/" .. path
        command[#command + 1] = ('mount --bind "%s" "%s" && mount -o remount,bind,ro "%s"'):format(at, at, at)
    end
    local mounted = table.concat(command, "; ")
    local can = assert(process.run { "unshare", "-m", "sh", "-c", mounted })
    if not can.ok then return nil end
    return assert(process.run { env = { AKO_HOME = t.home }, "unshare", "-m", "sh", "-c", mounted ..
        ('; exec "%s" "%s/tests/lua/drive.lua" "%s" %s'):format(program.path, t.home, folder, verb) })
end

t.test("a read-only workspace can be looked at, and is left as it is", function()
    local folder = steps.workspace()
    try(folder)
    edit(folder, "time=90")
    local users, before = steps.users(folder), newest(folder)
    local looked = read_only(folder, { "." }, "status")
    if not looked then t.skip "nothing can be mounted read-only here" end
    t.eq(looked.code, 0, looked.stderr)
    for _, verb in ipairs { "try", "run" } do
        local tried = read_only(folder, { "." }, verb)
        t.eq(tried.code, 5, tried.stderr)
        t.match(tried.stderr, "ako%-lua: [^\n]*Read%-only file system\n$")
    end
    t.eq(newest(folder).history, before.history)
    try(folder)
    t.eq(#steps.check(folder, users).history, 2)
end)

t.test("a solution that cannot be put back stays, and that is said; the next start puts it back", function()
    local folder = steps.workspace()
    try(folder)
    local users = steps.users(folder)
    edit(folder, "time=110")
    local tried = read_only(folder, { "solution" }, "try")
    if not tried then t.skip "nothing can be mounted read-only here" end
    t.eq(tried.code, 1, tried.stderr)
    t.match(tried.stderr, "left as it is: [^\n]*Read%-only file system")
    t.eq(present(folder), scripted.source "time=110")
    try(folder, 1)
    t.eq(present(folder), scripted.source "time=100")
    steps.check(folder, users)
end)

t.test("another process has the workspace, or the session", function()
    local folder = steps.workspace()
    try(folder)
    edit(folder, "time=90")
    local lock = assert(fs.lock(folder))
    says(folder, "try", 125, "[^\n]*in use by another ako%-lua")
    says(folder, "run", 125, "[^\n]*in use by another ako%-lua")
    t.eq(outcome("status", folder), 0)
    lock:close()
    local repo <close> = assert(git.open(folder))
    local ws = { folder = folder, repo = repo, task = { solution = { files = { "solution/kernel.c" } } } }
    local opened = assert(session.resume(ws, newest(folder)))
    says(folder, "try", 125, "[^\n]*is being written by process %d+")
    t.eq(outcome("status", folder), 0)
    opened:close()
    try(folder)
    t.eq(present(folder), scripted.source "time=90")
end)

t.test("a note that is being added just now is waited for", function()
    local folder = steps.workspace()
    try(folder)
    edit(folder, "time=90")
    local path = assert(process.run { "sh", "-c", "echo .git/ako/*/journal.jsonl", cwd = folder }).stdout
    local slept, sleep, held = 0, clock.sleep_ns, assert(journal.open(folder .. "/" .. path:gsub("%s", "")))
    clock.sleep_ns = function()
        slept = slept + 1
        if held then held:close() end
        held = nil
    end
    local code, said = outcome("try", folder)
    clock.sleep_ns = sleep
    t.eq({ code, slept }, { 0, 1 }, said)
end)

t.test("a detached HEAD", function()
    local folder = steps.workspace()
    steps.sh("git checkout -q --detach", folder)
    works(folder, steps.users(folder))
end)

t.test("an unborn branch", function()
    local folder = fs.absolute(scripted.task_folder "time=100")
    steps.sh("git init -q -b none .", folder)
    try(folder)
    edit(folder, "time=90")
    try(folder)
    t.eq(steps.sh("git status -sb | head -1", folder), "## No commits yet on none\n")
end)

t.test("a rebase that has stopped at a conflict goes on afterwards", function()
    local folder = steps.workspace()
    steps.sh([[git add -A && git commit -qm all && git checkout -q -b other && echo a >mine.txt && git commit -qam a &&
        git checkout -q mine && echo b >mine.txt && git commit -qam b && ! git rebase -q other 2>/dev/null]], folder)
    works(folder, steps.users(folder))
    steps.sh("rm LOG.md; git checkout -q --theirs mine.txt; git add mine.txt; git checkout -q HEAD -- solution", folder)
    steps.sh("GIT_EDITOR=true git rebase --continue", folder)
    t.eq(steps.sh("git log --format=%s | head -3", folder), "b\na\nall\n")
end)

-- A repository with another one as its submodule "sub".
local function with_submodule()
    local inner, folder = steps.workspace(), steps.workspace()
    steps.sh(('git -c protocol.file.allow=always submodule --quiet add "%s" sub && git commit -qm sub'):format(inner),
        folder)
    return folder
end

t.test("a submodule elsewhere in the repository stays what it is", function()
    local folder = with_submodule()
    local entry = steps.sh("git ls-tree HEAD sub", folder)
    works(folder, steps.users(folder))
    t.eq(steps.sh("git ls-tree " .. newest(folder).branch.oid .. " sub", folder), entry)
end)

t.test("a workspace that is a submodule has its records in that one's repository", function()
    local folder = fs.absolute(with_submodule() .. "/sub")
    try(folder)
    edit(folder, "time=90")
    try(folder)
    local state = newest(folder)
    t.eq(#state.history, 2)
    t.match(state.path, "/%.git/modules/sub/ako/")
    t.eq(steps.sh("git -C .. status --porcelain --ignore-submodules=dirty", folder):match "sub", nil)
end)

t.test("a solution in a submodule of the workspace is refused", function()
    local folder = with_submodule()
    local text = fs.read(folder .. "/task.lua"):gsub("solution/kernel.c", "sub/solution/kernel.c")
    assert(fs.write(folder .. "/task.lua", text))
    local users = steps.users(folder)
    for _, verb in ipairs { "try", "run" } do
        says(folder, verb, 2, "sub/solution/kernel.c belongs to a repository of its own, sub; ")
    end
    t.eq(steps.users(folder), users)
    t.ok(not fs.exists(folder .. "/.git/ako"))
end)

t.test("a bare repository is no workspace", function()
    local folder = fs.absolute(scripted.task_folder "time=100")
    steps.sh("git init -q --bare .", folder)
    says(folder, "try", 2, "the repository of [^\n]* is bare")
    says(folder, "run", 2, "the repository of [^\n]* is bare")
    t.eq(present(folder), scripted.source "time=100")
end)

t.test("a .git that is none", function()
    local folder = fs.absolute(scripted.task_folder "time=100")
    assert(fs.write(folder .. "/.git", "gitdir: /nowhere\n"))
    says(folder, "try", 2, "")
    t.eq(fs.read(folder .. "/.git"), "gitdir: /nowhere\n")
end)

t.test("nobody's name is known", function()
    local folder, home = fs.absolute(scripted.task_folder "time=100"), t.tmpdir()
    steps.sh("git init -q .", folder)
    local nobody = { AKO_HOME = t.home, HOME = home, XDG_CONFIG_HOME = home, GIT_CONFIG_NOSYSTEM = "1",
        GIT_AUTHOR_NAME = false, GIT_AUTHOR_EMAIL = false, GIT_COMMITTER_NAME = false, GIT_COMMITTER_EMAIL = false,
        EMAIL = false }
    local done = assert(process.run { env = nobody, program.path, t.home .. "/tests/lua/drive.lua", folder, "try" })
    t.eq(done.code, 0, done.stderr)
    t.match(steps.sh("git log -1 --format=%an:%ae --branches", folder), "^[^:\n]+:[^:\n]+\n$")
end)

t.test("names of branches that are taken", function()
    for _, taken in ipairs { "ako", "ako/s", "ako/s/deeper" } do
        local folder = steps.workspace()
        steps.sh("git branch " .. taken, folder)
        t.eq(outcome("try", folder, { session = "s" }), 0, taken)
        local state = newest(folder)
        t.ok(state.branch.ref ~= "refs/heads/" .. taken)
        t.eq(steps.sh("git rev-parse " .. taken, folder), steps.sh("git rev-parse mine", folder))
        local repo <close> = assert(git.open(folder))
        t.eq(repo:resolve(state.branch.ref), state.branch.oid)
    end
end)

t.test("something of another kind where the records would be", function()
    local folder = steps.workspace()
    assert(fs.write(folder .. "/.git/ako", "mine"))
    says(folder, "try", 125, "[^\n]*%.git/ako")
    t.eq(fs.read(folder .. "/.git/ako"), "mine")
end)

-- Puts another time into the first line of a session.
local function set_time(folder, name, time_s)
    local path = ("%s/.git/ako/%s/journal.jsonl"):format(folder, name)
    assert(fs.write(path, (assert(fs.read(path)):gsub('"time_s":%d+', '"time_s":' .. time_s, 1))))
end

t.test("a clock that was set back does not make an older session the newest", function()
    local folder = steps.workspace()
    t.eq(outcome("try", folder, { session = "first" }), 0)
    set_time(folder, "first", 4000000000)
    t.eq(outcome("run", folder, { session = "second" }), 0)
    t.eq(newest(folder).name, "second")
    local _, _, ctx = outcome("status", folder)
    t.match(ctx.console.stdout, "session second")
    t.eq(outcome("try", folder, { session = "third" }), 0)
    set_time(folder, "third", 5)
    edit(folder, "time=90")
    try(folder)
    t.eq({ newest(folder).name, #newest(folder).history }, { "third", 2 })
end)

t.test("a clock that is set back within a session", function()
    local folder = steps.workspace()
    try(folder)
    local path = newest(folder).path
    assert(fs.write(path, (assert(fs.read(path)):gsub('"time_s":%d+', '"time_s":4000000000'))))
    edit(folder, "time=90")
    try(folder)
    edit(folder, "time=95")
    try(folder, 1)
    t.eq(#newest(folder).history, 3)
    t.eq(outcome("status", folder), 0)
    t.ok(session.worked_s(newest(folder)) >= 0)
end)

t.test("a workspace whose path is no text is gone on with, and ended", function()
    local folder = t.tmpdir() .. "/odd\xFF\nname"
    steps.sh(('cp -a "%s" "%s"'):format(steps.workspace(), folder))
    try(folder)
    edit(folder, "time=90")
    try(folder)
    local code, said = outcome("finish", folder, nil, { message = "done" })
    t.eq(code, 0, said)
    t.ok(newest(folder).finished)
end)

t.test("a workspace that is moved or copied with its repository keeps its sessions and its logs", function()
    local old = steps.workspace()
    try(old)
    edit(old, "time=90")
    try(old)
    local name = newest(old).name
    local copy, moved = t.tmpdir() .. "/copy", t.tmpdir() .. "/moved"
    steps.sh(('cp -a "%s" "%s" && mv "%s" "%s"'):format(old, copy, old, moved))
    for i, folder in ipairs { copy, moved } do
        local users = steps.users(folder)
        edit(folder, "time=" .. 80 - i)
        try(folder)
        t.eq(newest(folder).name, name)
        t.eq(#steps.check(fs.absolute(folder), users).history, 3)
        local code, said = outcome("finish", folder, nil, { message = "done" })
        t.eq(code, 0, said)
    end
end)

t.test("a session of another working tree of the repository is not taken for one of this", function()
    local folder, other, moved = steps.workspace(), fs.absolute(t.tmpdir()) .. "/other", t.tmpdir() .. "/moved"
    steps.sh(('git worktree add -q -b other "%s" HEAD'):format(other), folder)
    try(folder)
    t.eq(select(2, outcome("status", other)), "ako-lua: no session in " .. other .. " yet; `run` or `try` starts one\n")
    steps.sh(('mv "%s" "%s"'):format(folder, moved))
    t.eq(outcome("status", moved), 0)
end)

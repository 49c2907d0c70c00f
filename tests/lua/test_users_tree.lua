-- What is the user's in a workspace survives all that a session does, and what is the session's survives what an agent
-- does to the workspace with git between two trials. Sessions in worktrees of one repository do not meet.
local fs = require "ako.fs"
local git = require "ako.git"
local process = require "ako.process"
local program = require "program"
local scripted = require "scripted"
local session = require "ako.session"
local steps = require "steps"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local edit, present = scripted.edit, scripted.present

local function try(folder, want)
    local ctx = scripted.logging_context(folder)
    t.eq(verbs.try(ctx), want or 0, ctx.console.stderr)
end

local HOOKS = { "pre-commit", "commit-msg", "post-commit", "prepare-commit-msg", "reference-transaction",
    "post-checkout", "post-index-change", "pre-push", "post-rewrite", "pre-auto-gc" }

t.test("hooks of the user's are not run", function()
    local folder = steps.workspace()
    assert(fs.mkdirs(folder .. "/.git/hooks"))
    for _, name in ipairs(HOOKS) do
        local hook = folder .. "/.git/hooks/" .. name
        assert(fs.write(hook, '#!/bin/sh\ntouch "$(git rev-parse --show-toplevel)/hook-$(basename "$0")"\nexit 1\n'))
        steps.sh('chmod +x "' .. hook .. '"')
    end
    local users = steps.users(folder)
    try(folder)
    edit(folder, "time=90")
    try(folder)
    edit(folder, "time=95")
    try(folder, 1)
    t.eq(#steps.check(folder, users).history, 3)
    t.eq(steps.sh("ls | grep hook- || true", folder), "")
end)

t.test("status, index, stash and config are what they were after each verdict", function()
    local folder = steps.workspace()
    steps.sh("git stash -q && git stash apply -q --index && git config core.autocrlf true", folder)
    local users = steps.users(folder)
    local before = steps.sh("git status --porcelain; git stash list; git diff; git diff --cached", folder)
    try(folder)
    for _, script in ipairs { "time=90", "time=95", "time=80 status=COMPILE_ERROR", "time=90" } do
        edit(folder, script)
        verbs.try(scripted.logging_context(folder))
        t.eq(steps.users(folder), users)
    end
    steps.check(folder, users)
    assert(fs.remove_tree(folder .. "/LOG.md"))
    edit(folder, "time=100")
    t.eq(steps.sh("git status --porcelain; git stash list; git diff; git diff --cached", folder), before)
end)

-- What an agent may do between two trials, and whether the edit is still there afterwards.
local DEEDS = { { "git clean -fdxq", true }, { "git reset -q --hard", false }, { "git gc -q --prune=now", true },
    { "git stash -qu", false }, { "git checkout -q -f -b elsewhere", false }, { "git checkout -q --detach", true },
    { "git add -A && git commit -qm mine", true }, { "git pack-refs --all --prune && git prune", true },
    { "git reflog expire --expire=now --all && git gc -q --prune=now", true } }

t.test("what an agent does with git between two trials loses nothing of a session", function()
    for _, deed in ipairs(DEEDS) do
        local folder = steps.workspace()
        try(folder)
        edit(folder, "time=90")
        try(folder)
        edit(folder, "time=95")
        try(folder, 1)
        edit(folder, "time=80")
        steps.sh(deed[1], folder)
        local users = steps.users(folder)
        t.eq(present(folder), scripted.source(deed[2] and "time=80" or "time=100"), deed[1])
        try(folder, deed[2] and 0 or 1)
        local state = steps.check(folder, users)
        t.eq({ deed[1], #state.history, state.best.trial }, { deed[1], 4, deed[2] and 3 or 1 })
        local repo <close> = assert(git.open(folder))
        t.eq(repo:read(state.history[3].commit, "solution/kernel.c"), scripted.source "time=95", deed[1])
        t.eq(steps.sh("git fsck --no-dangling 2>&1", folder), "", deed[1])
    end
end)

t.test("a branch that somebody has deleted, moved or checked out: a new one, nothing of theirs touched", function()
    for _, deed in ipairs { "git branch -qD $b", "git branch -qf $b mine", "git checkout -qf $b" } do
        local folder = steps.workspace()
        try(folder)
        local name = steps.sh("git for-each-ref --format='%(refname:short)' refs/heads/ako", folder):gsub("\n", "")
        steps.sh(deed:gsub("%$b", name), folder)
        local theirs = steps.sh("git rev-parse -q --verify " .. name .. " || true; git status -sb", folder)
        edit(folder, "time=90")
        local head = steps.sh("git rev-parse HEAD", folder)
        try(folder)
        local repo <close> = assert(git.open(folder))
        local state = assert(session.newest { repo = repo, folder = folder })
        t.eq(repo:read(state.branch.ref, "solution/kernel.c"), scripted.source "time=90", deed)
        t.eq(steps.sh("git rev-parse HEAD", folder), head)
        if not deed:find "-qD" then
            t.eq(state.branch.ref, "refs/heads/" .. name .. "-2")
            t.eq((theirs:match("^%x+")), repo:resolve("refs/heads/" .. name))
        end
    end
end)

local WORKTREES = 12

t.test("refs of attempts that somebody has deleted are made again while git has their commits", function()
    local folder = steps.workspace()
    local users = steps.users(folder)
    try(folder)
    edit(folder, "time=90")
    try(folder)
    edit(folder, "time=95")
    try(folder, 1)
    steps.sh("rm -r .git/refs/ako", folder)
    edit(folder, "time=80")
    try(folder)
    t.eq(#steps.check(folder, users).history, 4)
end)

t.test("what git has lost with its refs is said, with what to do; another session may begin", function()
    local folder = steps.workspace()
    try(folder)
    edit(folder, "time=90")
    try(folder)
    local journal = steps.sh("ls -d .git/ako/*/", folder):gsub("%s+$", "") .. "journal.jsonl"
    steps.sh("rm -r .git/refs/ako .git/refs/heads/ako && git gc -q --prune=now", folder)
    local before = fs.read(folder .. "/" .. journal)
    for verb, operands in pairs { show = { 1 }, diff = { 1 }, revert = { 1 }, try = {}, finish = {} } do
        local ctx = scripted.logging_context(folder, nil, { message = "m" })
        ctx.operands = operands
        t.eq(verbs[verb](ctx), 125, verb)
        t.match(ctx.console.stderr, "ako%-lua: [^\n]* has deleted [^\n]*trials/1[^\n]*\n$")
    end
    t.eq(fs.read(folder .. "/" .. journal), before)
    local ctx = scripted.logging_context(folder, { session = "other" })
    t.eq(verbs.try(ctx), 0, ctx.console.stderr)
end)

t.test("twelve sessions in twelve worktrees of one repository at once", function()
    local folder = steps.workspace()
    steps.sh("git add -A && git commit -qm all", folder)
    local candidates = t.tmpdir()
    assert(fs.write(candidates .. "/1.c", scripted.source "time=90"))
    assert(fs.write(candidates .. "/2.c", scripted.source "time=95"))
    local trees = t.tmpdir()
    for i = 1, WORKTREES do steps.sh(('git worktree add -q --detach "%s/%d"'):format(trees, i), folder) end
    local command = ('for i in $(seq %d); do "$0" "$1" "$2/$i" run "candidates=$3" >"$2/$i.out" 2>&1 || ' ..
        'echo "$i: $? $(cat "$2/$i.out")" >>"$2/failed" & done; wait'):format(WORKTREES)
    assert(process.run { "sh", "-c", command, program.path, t.home .. "/tests/lua/drive.lua", fs.absolute(trees),
        candidates, env = { AKO_HOME = t.home } })
    t.eq(fs.read(trees .. "/failed"), nil)
    local seen = {}
    for i = 1, WORKTREES do
        local tree = fs.absolute(trees .. "/" .. i)
        local repo <close> = assert(git.open(tree))
        local state = assert(session.newest { repo = repo, folder = tree })
        t.eq({ #state.history, state.best.trial, state.finished ~= nil }, { 3, 1, true })
        t.eq(present(tree), scripted.source "time=90")
        t.eq(fs.read(tree .. "/LOG.md"), scripted.log_of(state.history))
        t.eq(repo:read(state.branch.ref, "solution/kernel.c"), scripted.source "time=90")
        t.ok(not seen[state.name] and not seen[state.branch.ref], "one of its own")
        seen[state.name], seen[state.branch.ref] = true, true
        for _, record in ipairs(state.history) do
            t.eq(repo:resolve(("refs/ako/%s/%d"):format(state.name, record.trial)), record.commit)
        end
    end
    t.eq(steps.sh("git fsck --no-dangling 2>&1", folder), "")
end)

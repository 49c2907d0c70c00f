-- policies/ako4all_gated.lua, criterion by criterion (docs/ako4all_gated.md has the table).
local checkout = require "policies.ako4all_gated.checkout"
local fs = require "ako.fs"
local git = require "ako.git"
local process = require "ako.process"
local t = require "ako.tap"

-- git with an author and without the user's configuration.
local ENVIRONMENT = { GIT_CONFIG_GLOBAL = "/dev/null", GIT_CONFIG_NOSYSTEM = "1", GIT_AUTHOR_NAME = "A",
    GIT_AUTHOR_EMAIL = "a@b", GIT_COMMITTER_NAME = "A", GIT_COMMITTER_EMAIL = "a@b" }

local function run_git(...)
    local result = assert(process.run { "git", env = ENVIRONMENT, ... })
    assert(result.ok, result.stderr)
    return (result.stdout:gsub("%s+$", ""))
end

local function write(path, text)
    assert(fs.mkdirs(fs.dirname(path)))
    assert(fs.write(path, text))
end

local function commit(folder, name, text)
    write(fs.join(folder, name), text)
    run_git("-C", folder, "add", "-A")
    run_git("-C", folder, "commit", "-qm", name)
    return run_git("-C", folder, "rev-parse", "HEAD")
end

-- B1. An upstream with one commit, and a target repository with a workspace in it, side by side.
local function layout()
    local base = assert(fs.absolute(t.tmpdir()))
    local upstream = fs.join(base, "upstream")
    run_git("init", "-q", "-b", "trunk", upstream)
    commit(upstream, "bench.py", "one\n")
    local target = fs.join(base, "engine")
    run_git("init", "-q", target)
    local settings = { folder = fs.join(base, "AKO4ALL"), upstream = upstream, url = upstream, seconds = 60 }
    return { base = base, upstream = upstream, target = target, settings = settings,
        ensure = function(workspace) return checkout.ensure(settings, workspace or target) end,
        look = function(workspace) return checkout.look(settings, workspace or target) end }
end

t.test("B1: a missing checkout is cloned, at the upstream's own branch, and nothing beside it is touched", function()
    local at = layout()
    t.eq(at.look(), "harness checkout " .. at.settings.folder .. ": it is missing")
    t.eq(at.ensure(), nil)
    t.eq(fs.read(at.settings.folder .. "/bench.py"), "one\n")
    t.eq(git.open(at.settings.folder):branch(), "trunk")
    t.eq(at.look(), nil)
    t.eq(at.ensure(), nil)
    t.eq(fs.list(at.base), { "AKO4ALL", "engine", "upstream" })
    t.eq(run_git("-C", at.settings.folder, "remote"), "origin")
    t.match(checkout.describe(at.settings), "/AKO4ALL, branch trunk, commit %x+$")
end)

t.test("B1: one that is only behind is brought up; a look without network does not notice", function()
    local at = layout()
    t.eq(at.ensure(), nil)
    local newer = commit(at.upstream, "bench.py", "two\n")
    t.eq(at.look(), nil)
    t.eq(at.ensure(), nil)
    t.eq(git.open(at.settings.folder):head().oid, newer)
    t.eq(fs.read(at.settings.folder .. "/bench.py"), "two\n")
end)

t.test("B1: changed, untracked and staged files are refused by name, and left alone", function()
    local at = layout()
    t.eq(at.ensure(), nil)
    local folder = at.settings.folder
    write(folder .. "/bench.py", "mine\n")
    write(folder .. "/new/a.txt", "a\n")
    for _, ask in ipairs { at.ensure, at.look } do
        t.match(ask(), ": it has changes: .*M bench.py, %?%? new/a.txt; commit them elsewhere, clean it or clone it "
            .. "again$")
    end
    for i = 1, 4 do write(("%s/new/%d.txt"):format(folder, i), "x\n") end
    t.match(at.ensure(), " and 3 more; commit")
    t.eq(fs.read(folder .. "/bench.py"), "mine\n")
    fs.remove_tree(folder .. "/new")
    run_git("-C", folder, "add", "-A")
    t.match(at.ensure(), "it has changes: M. bench.py;")
end)

t.test("B1: commits of its own and other branches are refused", function()
    local at = layout()
    t.eq(at.ensure(), nil)
    local folder = at.settings.folder
    local first = run_git("-C", folder, "rev-parse", "HEAD")
    local mine = commit(folder, "mine.txt", "x\n")
    t.match(at.ensure(), ": it has 1 commits of its own and lacks 0 of ")
    t.match(at.look(), "it has moved away from the upstream")
    commit(at.upstream, "bench.py", "two\n")
    t.match(at.ensure(), ": it has 1 commits of its own and lacks 1 of ")
    t.eq(git.open(folder):head().oid, mine)
    run_git("-C", folder, "reset", "-q", "--hard", first)
    run_git("-C", folder, "switch", "-q", "-c", "other")
    t.match(at.ensure(), "it is 1 commits behind and not on branch trunk; git %-C .*/AKO4ALL switch trunk$")
    run_git("-C", folder, "switch", "-q", "--detach", "trunk")
    t.match(at.ensure(), "not on branch trunk")
    run_git("-C", folder, "switch", "-q", "trunk")
    t.eq(at.ensure(), nil)
end)

t.test("B1: a network that is not there is one line, and leaves nothing half-made", function()
    local at = layout()
    at.settings.url = at.base .. "/nowhere"
    t.match(at.ensure(), "^harness checkout .*/AKO4ALL: it is missing and .*/nowhere cannot be cloned: [^\n]+$")
    t.ok(not fs.exists(at.settings.folder))
    at.settings.url = at.upstream
    t.eq(at.ensure(), nil)
    at.settings.upstream = at.base .. "/nowhere"
    t.match(at.ensure(), ": its upstream .*/nowhere cannot be read: [^\n]+$")
    at.settings.upstream, at.settings.branch = at.upstream, "absent"
    t.match(at.ensure(), "cannot be read: couldn't find remote ref refs/heads/absent$")
    fs.remove_tree(at.settings.folder)
    t.match(at.ensure(), "cannot be cloned: [^\n]*absent[^\n]*$")
    write(at.settings.folder .. "/file", "x")
    t.match(at.ensure(), "it is no git repository of its own; move it away")
end)

t.test("B1, K-B1: tasks inside the checkout do not trip it, neither their own nor another's", function()
    local at = layout()
    t.eq(at.ensure(), nil)
    local folder = at.settings.folder
    local first, second = folder .. "/rmsnorm", folder .. "/softmax"
    write(first .. "/solution/kernel.cu", "k\n")
    write(first .. "/ITERATIONS.md", "log\n")
    t.eq(at.ensure(first), nil)
    t.match(at.ensure(second), "it has changes: %?%? rmsnorm/ITERATIONS.md")
    write(folder .. "/.git/ako/one/journal.jsonl", '{"kind":"session","workspace":"' .. first .. '"}\n{"kind":"x"}\n')
    write(folder .. "/.git/ako/broken/journal.jsonl", '{"kind":"ses')
    write(second .. "/ITERATIONS.md", "log\n")
    t.eq(at.ensure(second), nil)
    t.eq(at.look(second), nil)
    write(folder .. "/softmax.txt", "x\n")
    t.match(at.ensure(second), "it has changes: %?%? softmax.txt;")
    fs.remove_tree(folder .. "/softmax.txt")
    write(folder .. "/solution/kernel.cu", "k\n")
    t.match(at.ensure(second), "solution/kernel.cu")
    fs.remove_tree(second)
    t.eq(at.ensure(folder), nil)
end)

t.test("B1: where the checkout is and comes from: options, variables, layout", function()
    local at = layout()
    local none = { base_dir = "", upstream_url = "", clone_url = "", branch = "", network_seconds = 5.0 }
    local settings = checkout.settings(at.target, none)
    t.eq(settings.folder, at.base .. "/AKO4ALL")
    t.match(settings.upstream, "^https://github.com/TongmingLAIC/AKO4ALL")
    t.eq({ settings.url, settings.branch, settings.seconds }, { settings.upstream, nil, 5.0 })
    t.eq(at.ensure(), nil)
    t.eq(checkout.settings(at.settings.folder, none).folder, at.settings.folder)
    write(at.settings.folder .. "/task/x", "")
    t.eq(checkout.settings(at.settings.folder .. "/task", none).folder, at.settings.folder)
    local given = { base_dir = "/b", upstream_url = "/u", clone_url = "/c", branch = "dev", network_seconds = 5.0 }
    t.eq(checkout.settings(at.target, given),
        { folder = "/b/AKO4ALL", upstream = "/u", url = "/c", branch = "dev", seconds = 5.0 })
end)

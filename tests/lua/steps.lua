-- Lets something happen at the N-th step that a real ako-lua takes on a disk (tests/core/steps.c), for every N, and
-- looks at what is left. A template of a workspace is copied back before each step, to the same path.
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local process = require "ako.process"
local program = require "program"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"

local steps = {}

local MOST = 2000 -- steps of one verb

local function sh(command, folder)
    local done = assert(process.run { "sh", "-c", command, cwd = folder })
    t.eq(done.code, 0, command .. ": " .. done.stderr)
    return done.stdout
end
steps.sh = sh

-- The library, built once; nil and why not.
local built, problem
function steps.library()
    if built or problem then return built, problem end
    local file = t.tmpdir() .. "/steps.so"
    local done = process.run { "cc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-shared", "-o", file,
        fs.join(t.home, "tests/core/steps.c"), "-ldl" }
    local works = done and done.ok and process.run { program.path, "--version", env = { LD_PRELOAD = file } }
    built = works and works.ok and file or nil
    if not done then problem = "no C compiler" end
    if not built then problem = problem or "the library that counts steps cannot be loaded" end
    return built, problem
end

local SCRIPT = fs.join(t.home, "tests/lua/drive.lua")

--- Runs a verb of drive.lua on a folder; `does` (kill, half, full, once) happens at step `n`. Returns what process.run
--- does, with .reached: whether there were so many steps.
function steps.run(folder, n, does, ...)
    local done = folder .. ".done"
    fs.remove_tree(done)
    local result = assert(process.run { env = { AKO_HOME = t.home, LD_PRELOAD = assert(steps.library()),
        AKO_STEP = tostring(n), AKO_STEP_DOES = does, AKO_STEP_DONE = done }, program.path, SCRIPT, folder, ... })
    result.reached = fs.exists(done)
    return result
end

--- Runs it without anything happening.
function steps.plain(folder, ...)
    return assert(process.run { env = { AKO_HOME = t.home }, program.path, SCRIPT, folder, ... })
end

--- A workspace of a user's: a repository with a commit, a branch, an index that differs, a file of nobody's.
function steps.workspace()
    local folder = fs.absolute(scripted.task_folder "time=100")
    sh([[git init -q --template= -b mine . && git config user.name U && git config user.email u@x &&
        echo mine >mine.txt && git add -A && git commit -qm first && echo staged >staged.txt && git add staged.txt &&
        echo loose >loose.txt && echo changed >>mine.txt]], folder)
    return folder
end

--- What of a workspace is the user's, as one text.
function steps.users(folder)
    local parts = {}
    for _, name in ipairs { ".git/HEAD", ".git/index", ".git/config", ".git/refs/heads/mine", "staged.txt", "loose.txt",
        "mine.txt", "reference.c", "task.lua" } do
        parts[#parts + 1] = name .. " " .. (fs.hash(fs.join(folder, name)) or "gone")
    end
    return table.concat(parts, "\n")
end

--- Keeps a folder as it is; returns a function that brings that back.
function steps.keep(folder)
    local copy = t.tmpdir()
    sh(('cp -a "%s/." "%s"'):format(folder, copy))
    return function() sh(('rm -rf "%s" && cp -a "%s" "%s"'):format(folder, copy, folder)) end
end

-- Looking

-- Adds the paths below a folder whose names match, without those in `skipped`.
local function find(found, folder, pattern, skipped)
    for _, name in ipairs(fs.list(folder) or {}) do
        local path = folder .. "/" .. name
        if name:find(pattern) then found[#found + 1] = path end
        if name ~= skipped and fs.is_dir(path) then find(found, path, pattern, skipped) end
    end
    return found
end

-- In the workspace, among the refs and beside the records of a session.
local function litter(folder, name)
    local found = find({}, folder, "^%.ako%-", ".git")
    for _, refs in ipairs { "heads", "tags", "ako/" .. name } do
        find(found, folder .. "/.git/refs/" .. refs, "%.lock$")
    end
    for _, records in ipairs { "rendered", name } do find(found, folder .. "/.git/ako/" .. records, "^%.ako%-") end
    return table.concat(found, " ")
end

local function journal_lines(state)
    local numbers = {}
    for line in assert(fs.read(state.path)):gmatch("([^\n]+)\n") do
        local entry = assert(json.decode(line))
        if entry.kind == "trial" then numbers[#numbers + 1] = entry.trial end
    end
    return numbers
end

local function check_trial(repo, folder, state, record)
    local n = record.trial
    t.eq(repo:resolve(("refs/ako/%s/%d"):format(state.name, n)), record.commit, "ref of trial " .. n)
    local files = ("%s/.git/ako/%s/trials/%d/"):format(folder, state.name, n)
    local kept = assert(json.decode(assert(fs.read(files .. "result.json"))))
    t.eq({ kept.trial, kept.status, kept.verdict, kept.commit }, { n, record.status, record.verdict, record.commit })
    assert(json.decode(assert(fs.read(files .. "samples.json"))))
    t.ok(fs.exists(files .. "build.log"))
    local text = assert(repo:read(record.commit, "solution/kernel.c"))
    local source = fs.read(files .. "sources/kernel.c") or fs.read(files .. "sources/solution/kernel.c")
    if source then t.eq(source, text) end
end

local function check_branch(repo, state)
    local kept = {}
    for _, record in ipairs(state.history) do
        if record.verdict == "keep" then table.insert(kept, 1, record.tree) end
    end
    local trees, final = {}, 0
    for _, commit in ipairs(#kept > 0 and assert(repo:log(state.branch.ref)) or {}) do
        if commit.oid == state.header.base then break end
        if commit.message:find "^%[final%]" then final = final + 1 else trees[#trees + 1] = commit.tree end
    end
    t.ok(final == 1 or final == 0 and not state.finished, "one final commit")
    if #state.history == 0 or not state.best then return end
    if #state.overrides == 0 then
        t.eq(#trees, #kept, "commits on the branch")
        for i, tree in ipairs(trees) do
            t.eq(repo:read(tree, "solution/kernel.c"), repo:read(kept[i], "solution/kernel.c"))
        end
    end
    t.eq(repo:read(trees[1] or state.best.tree, "solution/kernel.c"), repo:read(state.best.tree, "solution/kernel.c"))
    t.eq(state.branch.ref, "refs/heads/ako/" .. state.name, "no other branch")
    for entry in fs.read(repo:commondir() .. "/logs/" .. state.branch.ref):gmatch("[^\n]*\n?") do
        local from, to = entry:match("^(%x+) (%x+) [^\n]*\n$")
        t.ok(entry == "" or from and #from == 40 and #to == 40, "an entry of the reflog is torn: " .. entry)
    end
end

--- Checks all that a session left: every trial once, in order, with its ref, its files and its place on the branch; the
--- log where it is the newest; nothing half written; the user's things as they were. Returns its state. `name` is that
--- of the session, nil for the newest.
function steps.check(folder, users, name)
    local repo <close> = assert(git.open(folder))
    local newest = assert(session.newest { repo = repo, folder = folder })
    local state = name and assert(session.read(repo, name)) or newest
    local numbers = journal_lines(state)
    t.eq(#numbers, #state.history)
    for i, n in ipairs(numbers) do t.eq(n, i - 1, "number of a trial") end
    for _, record in ipairs(state.history) do check_trial(repo, folder, state, record) end
    check_branch(repo, state)
    if state.name == newest.name then t.eq(fs.read(folder .. "/LOG.md"), scripted.log_of(state.history)) end
    t.eq(state.open or state.placed or state.proposing, nil)
    t.eq(#state.pending, 0)
    if #state.history > 0 then t.eq(litter(folder, state.name), "", "left lying about") end
    t.eq(steps.users(folder), users, "the user's own")
    return state
end

--- The share of the steps that this process takes, of `each`: AKO_SHARD=2/3 is every third one from the second on.
function steps.shard()
    local first, stride = (os.getenv "AKO_SHARD" or "1/1"):match("^(%d+)/(%d+)$")
    return { first = math.tointeger(first), stride = math.tointeger(stride) }
end

--- For n from shard.first on, by shard.stride (without: from 1, by 1): brings the template back, lets `does` happen at
--- step n of the verb `words`, calls look(result, n). Ends with the first n that the verb did not reach. Returns how
--- many were tried.
function steps.each(folder, does, words, shard, look)
    local back, count = steps.keep(folder), 0
    for n = shard and shard.first or 1, MOST, shard and shard.stride or 1 do
        back()
        local result = steps.run(folder, n, does, table.unpack(words))
        if not result.reached then
            t.eq({ result.signal, result.code ~= nil and result.code < 2 }, { nil, true }, result.stderr)
            back()
            return count
        end
        local good, what = pcall(look, result, n)
        if not good then
            if type(what) == "string" then what = ("%s at step %d of %s: %s"):format(does, n, words[1], what) end
            error(what, 0)
        end
        count = count + 1
    end
    error("more steps than there can be")
end

return steps

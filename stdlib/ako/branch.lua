-- The branch of a session: trials as commits on a ref of its own, beside the refs of all attempts. The user's HEAD,
-- index and checkout are never touched. A branch that exists already, that somebody has moved meanwhile or that is
-- checked out somewhere is not ours: then the next free name is taken.
--
-- The journal knows of a commit (a line of kind "branch") before the ref does, so that the next start can set it.

local clock = require "ako.clock"
local fault = require "ako.fault"
local fs = require "ako.fs"

local branch = {}

local DEFAULT = "ako/{session}"
local MOST_NAMES = 1000

local must = fault.must

-- What a repository's worktrees have checked out, by their HEAD files.
local function is_checked_out(repo, ref)
    local common = repo:commondir()
    local heads = { fs.join(common, "HEAD") }
    for _, name in ipairs(fs.list(common .. "/worktrees") or {}) do
        heads[#heads + 1] = ("%s/worktrees/%s/HEAD"):format(common, name)
    end
    for _, file in ipairs(heads) do
        local text = fs.read(file)
        if text and text:match("^ref: (%S+)") == ref then return true end
    end
    return false
end

local function is_free(repo, ref)
    return not repo:resolve(ref) and not is_checked_out(repo, ref) and #(repo:refs(ref .. "/*") or {}) == 0
end

-- A branch's name cannot be a folder's at once, as git has it: where there is an "opt", "opt/x" becomes "opt-x".
local function without_obstacles(repo, ref)
    local above, rest = ref:match("^(refs/heads/.+)/([^/]+)$")
    while above do
        if repo:resolve(above) then return without_obstacles(repo, above .. "-" .. rest) end
        local higher, name = above:match("^(refs/heads/.+)/([^/]+)$")
        above, rest = higher, name and name .. "/" .. rest
    end
    return ref
end

--- The ref of an attempt of a session, by its number.
function branch.attempt_ref(name, n) return ("refs/ako/%s/%d"):format(name, n) end

--- The message of a trial's commit: its subject, and what was found in lines that scripts can read.
function branch.message(record)
    local subject = record.subject
        or ("[trial %d] %s"):format(record.trial, record.hypothesis or record.candidate or "baseline")
    local lines = { subject, "",
        "status: " .. record.status, "reason: " .. record.reason }
    for _, name in ipairs { "reference", "original", "best" } do
        local speedup = record.speedup[name]
        if speedup then lines[#lines + 1] = ("speedup_%s: %.4f"):format(name, speedup) end
    end
    if record.time_ns then lines[#lines + 1] = ("median_ns: %.0f"):format(record.time_ns.median) end
    return table.concat(lines, "\n") .. "\n"
end

local function placeholders(session)
    return { task = (session.header.task or "task"):gsub("[^%w_.-]", "-"), session = session.name,
        date = os.date("!%Y%m%d", session.header.time_s) }
end

-- The wanted name, else with a number behind it.
local function free_ref(session, spec)
    local wanted = "refs/heads/" .. (spec.branch or DEFAULT):gsub("{(%a+)}", placeholders(session))
    wanted = without_obstacles(session.repo, wanted)
    local ref, n = wanted, 1
    while not is_free(session.repo, ref) do
        n = n + 1
        if n > MOST_NAMES then fault.raise("BUSY", "no free name for a branch like %s; delete old ones", wanted) end
        ref = ("%s-%d"):format(wanted, n)
    end
    return ref
end

-- Where the branch is and may be moved from: its ref and what that is now ("" where it is not yet). `line` is the last
-- branch line of the journal.
local function place(session, spec, line)
    if not line then return free_ref(session, spec), "" end
    local now = session.repo:resolve(line.ref)
    local ours = now == line.oid or now == line.before or (now == nil and line.before == "")
    if ours and not is_checked_out(session.repo, line.ref) then return line.ref, now or "" end
    return free_ref(session, spec), ""
end

local function line_of(what, ref, before, oid)
    return { kind = "branch", trial = what.trial, final = what.final, override = what.override, ref = ref,
        before = before, oid = oid, time_s = os.time() }
end

-- Another process may have taken the name since it was looked for.
local function set(session, spec, line, append)
    for _ = 1, MOST_NAMES do
        local done, problem, code = session.repo:set_ref(line.ref, line.oid, line.before)
        if done then return line end
        if code ~= "EXISTS" and code ~= "BUSY" and code ~= "INVALID" then fault.raise(code, "%s", problem) end
        line = line_of(line, free_ref(session, spec), "", line.oid)
        append(line)
    end
    fault.raise("BUSY", "no branch of the name %s can be made", line.ref)
end

--- Puts a commit on the session's branch. what: trial, tree (what `paths` of the workspace are added to), message and
--- paths; final = true for that of the end, override = true for one by hand. `line` is the journal's last line about
--- it, nil before the first; append(line) writes one. Returns the new line; .ref differs from line's when a new name
--- had to be taken. Raises.
function branch.commit(session, spec, what, line, append)
    local repo = session.repo
    local ref, before = place(session, spec, line)
    local paths = {}
    for _, path in ipairs(what.paths or {}) do
        local full = fs.join(session.ws.folder, path)
        if fs.is_file(full) or fs.is_dir(full) then paths[#paths + 1] = path end
    end
    local tree = #paths > 0 and must(repo:tree(what.tree, paths)) or what.tree
    local oid = must(repo:commit { tree = tree, parents = { line and line.oid or session.header.base },
        message = what.message })
    local new = line_of(what, ref, before, oid)
    append(new)
    return set(session, spec, new, append)
end

local LOCK_WAIT_NS = 100000000 -- longer than git is between making a lock and writing into it

local function lock_of(repo, ref) return ("%s/%s.lock"):format(repo:commondir(), ref) end

--- True when the ref of a line is as it was before, or git's lock of it is still there.
function branch.is_unset(repo, line)
    local now = repo:resolve(line.ref) or ""
    return now ~= line.oid and now == line.before or fs.exists(lock_of(repo, line.ref))
end

-- Git's lock of the ref that a killed process was setting: it holds the commit of the journal's line, or nothing yet.
local function clear_lock(repo, line)
    local lock = lock_of(repo, line.ref)
    local text = fs.read(lock)
    if text == "" then
        clock.sleep_ns(LOCK_WAIT_NS)
        text = fs.read(lock)
    end
    if text and (line.oid .. "\n"):sub(1, #text) == text then fs.remove_tree(lock) end
end

-- A line of its reflog that a kill has cut off would swallow the next one.
local function cut_reflog(repo, line)
    local file = ("%s/logs/%s"):format(repo:commondir(), line.ref)
    local text = fs.read(file) or ""
    if text ~= "" and text:sub(-1) ~= "\n" then must(fs.write(file, (text:gsub("[^\n]*$", "")))) end
end

--- Makes good what a kill left: the ref of the last line. Returns the line that holds now.
function branch.repair(session, spec, line, append)
    clear_lock(session.repo, line)
    if session.setting then cut_reflog(session.repo, line) end
    if session.repo:resolve(line.ref) == line.oid then return line end
    local ref, before = place(session, spec, line)
    local new = line
    if ref ~= line.ref or before ~= line.before then
        new = line_of(line, ref, before, line.oid)
        append(new)
    end
    return set(session, spec, new, append)
end

return branch

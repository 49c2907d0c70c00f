-- A session: the journal, the refs and the files of one optimization run in one workspace.
--
--   <common git folder>/ako/<session>/journal.jsonl    lines of kind session, intent, trial, note, override and finish
--                                    /trials/<n>/      sources, build.log, samples.json, result.json; bench.log and
--                                                    proposer.log where there are such commands
--                                    /proposals/       of those that no trial came of: <number>.log and what they left
--   refs/ako/<session>/<n>           every attempt, also the reverted ones; 0 is the baseline
--   refs/ako/<session>/proposals/<n> edits of a proposer that were never tried
--   refs/ako/<session>/lost/<n>-<..> attempts that a journal, cut short, does not know any more
--   refs/heads/ako/<session>         what was kept, one commit a trial; a policy may name it and want more on it
--
-- A trial is announced by an intent and closed by its record; the record's line in the journal is what makes it so.
-- Refs and files follow from it and are made good at the next start when a kill came between. Nothing here moves the
-- user's HEAD, branch or index; only the solution's files are ever written in the workspace.

local branch = require "ako.branch"
local clock = require "ako.clock"
local evidence = require "ako.evidence"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local git = require "ako.git"
local journal = require "ako.journal"
local json = require "ako.json"
local lending = require "ako.lending"
local overriding = require "ako.overriding"
local place = require "ako.place"
local proposal = require "ako.proposal"
local repair = require "ako.repair"
local seal = require "ako.seal"
local story = require "ako.story"
local trial = require "ako.trial"

local session = {}

local Session = {}

-- A session shows its story's fields as its own; only lines of the journal change them.
Session.__index = function(self, name)
    local own = Session[name]
    if own == nil then own = rawget(self, "state")[name] end
    return own
end

local must = fault.ours

local function root_of(repo) return fs.join(repo:commondir(), "ako") end
local function folder_of(repo, name) return fs.join(root_of(repo), name) end
local function journal_of(repo, name) return fs.join(folder_of(repo, name), "journal.jsonl") end

local LONGEST_NAME, LONGEST_TASK = 100, 60

--- True for a name that can be part of a ref and of a path.
function session.is_name(name)
    return type(name) == "string" and #name <= LONGEST_NAME and name:match("^[%w_][%w_.-]*$") ~= nil
        and not name:find("..", 1, true) and not name:match("%.lock$") and not name:match("%.$")
end

--- Raises a fault for a name that cannot.
function session.check_name(name)
    if session.is_name(name) then return end
    fault.raise("INVALID", "'%s' is no name for a session: letters, digits, '-', '_' and '.'", tostring(name))
end

--- "<task>-<UTC time>", with a number behind it when that is taken.
function session.fresh_name(repo, task_name)
    local name = ("%s-%s"):format(task_name:sub(1, LONGEST_TASK), os.date("!%Y%m%dT%H%M%SZ"))
    local fresh, n = name, 1
    while fs.exists(folder_of(repo, fresh)) do
        n = n + 1
        fresh = name .. "-" .. n
    end
    return fresh
end

--- The name of a session's branch; nil before there is a commit on it. Takes what `read` gives, too.
function session.branch_name(state) return state.branch and state.branch.ref:gsub("^refs/heads/", "") or nil end

-- Reading

-- As session.read, and then the first line where that one could be read.
local function read(repo, name)
    local begun
    local function begin(new) begun = new end
    local state, count, code = fault.catch(story.read, journal_of(repo, name), begin)
    local problem = count
    if not state and code == "NOTFOUND" then problem = ("there is no session '%s' here"):format(name) end
    if not state then return nil, problem, code, begun and begun.header end
    if count == 0 then return nil, ("session %s has not begun"):format(name), "NOTFOUND" end
    if not state.header then
        problem = ":1: damaged: not the first line of a session; restore the file from a copy"
        return nil, journal_of(repo, name) .. problem, "CORRUPT"
    end
    state.name = name
    return state
end

--- The story that a session's journal tells (ako.story), with .name. Nil, message, code when it cannot be read;
--- NOTFOUND also when it was cut off before its first line, CORRUPT names the damaged line.
function session.read(repo, name)
    local state, problem, code = read(repo, name)
    return state, problem, code
end

--- The names of a workspace's sessions, oldest first.
function session.names(repo)
    local names = {}
    for _, name in ipairs(fs.list(root_of(repo)) or {}) do
        if fs.exists(journal_of(repo, name)) then names[#names + 1] = name end
    end
    return names
end

-- One whose first line cannot be read may be of this workspace, and was last written to when its file says.
local function damaged_session(repo, name, problem, code, header)
    local written = fs.stat(journal_of(repo, name))
    header = header or { time_s = written and written.mtime_ns // 1000000000 or 0 }
    return { name = name, problem = problem, code = code, workspace = header.workspace, place = header.place,
        number = header.number, time_s = header.time_s }
end

-- Of first lines. A clock may be set back; numbers only grow.
local function is_newer(a, b)
    if not b then return true end
    if a.number and b.number and a.number ~= b.number then return a.number > b.number end
    return a.time_s >= b.time_s
end

--- The newest session of a workspace for which `accept(state)` holds (default: any): its state or nil; a list of what
--- is wrong with sessions that cannot be read; and, when the newest of all that are or may be of this workspace is one
--- of those, that one: { name, problem, code }.
function session.newest(ws, accept)
    local newest, last, damaged, broken = nil, nil, {}, nil
    for _, name in ipairs(session.names(ws.repo)) do
        local state, problem, code, header = read(ws.repo, name)
        if state and place.is_of(state.header, ws) then
            if is_newer(state.header, last) then last, broken = state.header, nil end
            local accepted = not accept or accept(state)
            if accepted and (not newest or is_newer(state.header, newest.header)) then newest = state end
        elseif not state and code ~= "NOTFOUND" then
            damaged[#damaged + 1] = problem
            local found = damaged_session(ws.repo, name, problem, code, header)
            local ours = not found.workspace or place.is_of(found, ws)
            if ours and is_newer(found, last) then last, broken = found, found end
        end
    end
    return newest, damaged, broken
end

-- The last trial that came to its own end: one that was cut off is closed by the next start, whenever that is.
local function last_closed(state)
    for i = #state.history, 1, -1 do
        local record = state.history[i]
        if record.status ~= "INFRA" or record.reason ~= trial.INTERRUPTED then return record end
    end
end

--- For how many seconds a session's run was at work, as far as its journal shows: the time between a kill and `resume`
--- does not count. Takes what `read` gives.
function session.worked_s(state)
    local since, last = state.resumed or state.header, last_closed(state)
    local now = state.open and state.open.time_s or last and last.time_s or since.time_s
    return (state.resumed and state.resumed.worked_s or 0) + math.max(0, now - since.time_s)
end

local function own_id() return (fs.read "/proc/self/stat" or ""):match("^%d+") end

--- The other process that has a session's journal in its hands, as far as can be told; nil where none has.
function session.holder(repo, name)
    local id = (fs.read(journal_of(repo, name) .. ".lock") or ""):match("^(%d+)\n$")
    local program = id and id ~= own_id() and fs.read(("/proc/%s/comm"):format(id))
    return program and program:find("^ako%-lua") and math.tointeger(tonumber(id)) or nil
end

-- Writing

local function attempt_ref(self, n) return branch.attempt_ref(self.name, n) end

-- What is written is what the story goes on with.
local function append(self, line)
    line.v = 1
    local written, at, code = self.journal:append(line)
    if not written then fault.raise(code, "%s", at) end
    story.take(self.state, line, at)
    story.save(self.state)
    if self.seal then self.seal = seal.add(self.seal, json.encode(line)) end
    return true
end

-- Another process may be adding its note just now: that is soon over, and no reason to refuse anything.
local NEW_TRIES, OPEN_TRIES, LENT_TRIES, WAIT_NS = 1, 10, 100, 100000000

-- Returns the journal, and how many bytes of it were torn.
local function open_journal(path, tries)
    for i = 1, tries do
        local opened, torn, code = journal.open(path)
        if opened then return opened, torn or 0 end
        if code ~= "BUSY" or i == tries then fault.raise(code, "%s", torn) end
        clock.sleep_ns(WAIT_NS)
    end
end

local function adopt(ws, name, state, tries)
    local self = setmetatable({ ws = ws, repo = ws.repo, name = name, paths = ws.task.solution.files,
        folder = folder_of(ws.repo, name), state = state }, Session)
    self.journal, self.torn_bytes = open_journal(journal_of(ws.repo, name), tries)
    repair.sweep(ws.repo, name)
    self.state = story.renew(state)
    repair.clear_locks(ws.repo, self)
    return self
end

-- One more than that of any session of the repository that can be read.
local function next_number(repo)
    local number = 0
    for _, name in ipairs(session.names(repo)) do
        local state = read(repo, name)
        number = math.max(number, state and state.header.number or 0)
    end
    return number + 1
end

local function first_line(self, facts)
    local line = { kind = "session", session = self.name, workspace = format.utf8(self.ws.folder), time_s = os.time(),
        number = self.header and self.header.number or next_number(self.repo), base = must(self.repo:head()).oid,
        paths = self.paths, place = place.of(self.repo) }
    for key, value in pairs(facts) do line[key] = value end
    return line
end

--- Starts a session in a workspace (ako.workspace). `facts` go into its first line: task, device, policy, protected ...
session.create = fault.returns(function(ws, name, facts)
    session.check_name(name)
    local _, _, problem = session.read(ws.repo, name)
    if problem ~= "NOTFOUND" then -- one that was killed before its first line was whole has not begun
        fault.raise("EXISTS", "there is a session '%s' already; leave --session out for a new name", name)
    end
    must(fs.mkdirs(folder_of(ws.repo, name)))
    local self = adopt(ws, name, story.new(journal_of(ws.repo, name)), NEW_TRIES)
    local begun, why, code = fault.catch(function() return append(self, first_line(self, facts)) end)
    if not begun then
        fs.remove_tree(self.folder)
        self:close()
        fault.raise(code, "%s", why)
    end
    return self
end)

--- Begins a session in which nothing has been tried yet once more, with these facts in place of its first line's: what
--- was noted before stays.
Session.renew = fault.returns(function(self, facts)
    fault.check(#self.history == 0, "session %s has begun", self.name)
    return append(self, first_line(self, facts))
end)

--- Goes on with a session that `read` has given. An attempt that was cut off is closed as INFRA "interrupted".
session.resume = fault.returns(function(ws, state)
    local self = adopt(ws, state.name, state, OPEN_TRIES)
    local good, problem, code = fault.catch(function()
        repair.session(self)
        return true
    end)
    if good then return self end
    self:close()
    fault.raise(code, "%s", problem)
end)

--- Says in the journal that a run goes on, which has worked for so many seconds before.
Session.note_resumed = fault.returns(function(self, worked_s)
    return append(self, { kind = "resume", time_s = os.time(), worked_s = worked_s })
end)

--- Opens a session that `read` has given as it is, with whatever is under way in it: for notes.
session.open = fault.returns(function(ws, state) return adopt(ws, state.name, state, OPEN_TRIES) end)

-- The user's HEAD is below the first attempt; the others start from the best one.
local function parent_of(self) return self.best and self.best.commit or self.header.base end

--- Puts a candidate in the place of the solution: `given` is the text of its main file, or { [path] = text }. The
--- journal knows of it first: what a kill leaves there is never taken for the user's own work.
Session.place = fault.returns(function(self, given)
    local files = type(given) == "table" and given or { [self.paths[1]] = given }
    local oids = {}
    for _, name in ipairs(self.paths) do oids[#oids + 1] = files[name] and git.hash(files[name]) end
    append(self, { kind = "place", oid = oids[1], oids = oids[2] and oids or nil })
    for name, text in pairs(files) do must(fs.write(fs.join(self.ws.folder, name), text)) end
    return true
end)

-- Proposals

--- Announces that a proposer begins to edit the solution's files: until the next `begin` or `withdraw` they are its.
--- Returns the journal's line { trial, proposal (a number of its own) }.
Session.propose = fault.returns(function(self)
    local line = { kind = "propose", trial = #self.history, proposal = (self.proposals or 0) + 1, time_s = os.time() }
    append(self, line)
    return line
end)

--- Takes back what was placed or proposed and will not be tried; `why`, in words, goes with what is kept of a proposal.
--- Returns where that is now, in words, or false where there was nothing.
Session.withdraw = fault.returns(function(self, why)
    local kept = false
    if self.proposing then
        kept = proposal.discard(self, self.proposing.proposal, why) or false
    else
        must(self:restore(self.placed))
    end
    append(self, { kind = "restored" })
    return kept
end)

--- Gives the journal out of hand while a proposer works, so that it can add notes (`ako-lua POLICY note`).
Session.lend = fault.returns(function(self)
    lending.lend(self, journal_of(self.repo, self.name))
    return true
end)

--- Takes the journal back. CORRUPT when anybody has changed what was in it, or added anything but notes.
Session.take_back = fault.returns(function(self)
    local function open(path) return (open_journal(path, LENT_TRIES)) end
    if self.lent then lending.take_back(self, journal_of(self.repo, self.name), open) end
    return true
end)

-- The journal has forgotten an attempt whose ref is there, because it was cut off: that keeps a ref.
local function keep_forgotten(self, n, tree)
    local oid = self.repo:resolve(attempt_ref(self, n))
    if not oid or self.repo:resolve(oid .. "^{tree}") == tree then return end
    must(self.repo:set_ref(("refs/ako/%s/lost/%d-%s"):format(self.name, n, oid:sub(1, 12)), oid))
end

--- Raises CORRUPT where git has lost the commit of a record.
function session.check_kept(repo, record)
    if repo:resolve(record.commit .. "^{tree}") then return end
    fault.raise("CORRUPT", "git has lost the commit of trial %d, for somebody has deleted its ref; what was tried is "
        .. "in %s", record.trial, record.files or "its records")
end

-- What git answers. Where it fails since the best is gone, that is said; a fresh look is needed, for what was read
-- once is remembered.
local function still_there(self, result, problem, code)
    local fresh <close> = result == nil and self.best and git.open(self.ws.folder) or nil
    if fresh then session.check_kept(fresh, self.best) end
    return must(result, problem, code)
end

--- Announces trial `n`: makes a commit of the solution's files as they are now under refs/ako/<session>/<n> and writes
--- the intent. `info`: candidate, hypothesis, predict, label, facts. Returns { trial, tree, commit }.
Session.begin = fault.returns(function(self, info)
    local n, parent = #self.history, parent_of(self)
    local paths = self.paths
    if self.best then session.check_kept(self.repo, self.best) end
    local tree = still_there(self, self.repo:tree(parent, paths))
    keep_forgotten(self, n, tree)
    local candidate = info.candidate and format.utf8(info.candidate)
    local hypothesis = info.hypothesis and format.utf8(info.hypothesis)
    local subject = hypothesis or candidate or "the solution as it is"
    local commit = still_there(self, self.repo:commit { tree = tree, parents = { parent }, ref = attempt_ref(self, n),
        message = ("[trial %d] %s\n"):format(n, subject) })
    local intent = { kind = "intent", trial = n, tree = tree, commit = commit, time_s = os.time(),
        candidate = candidate, hypothesis = hypothesis, predict = info.predict,
        label = info.label and format.utf8(info.label), facts = info.facts }
    append(self, intent)
    return intent
end)

--- Keeps what the best against itself has given (ako.control).
Session.note_control = fault.returns(function(self, given)
    local line = { kind = "control", time_s = os.time() }
    for name, value in pairs(given) do line[name] = value end
    append(self, line)
    return given
end)

local function trial_folder(self, n) return ("%s/trials/%d"):format(self.folder, n) end

-- The path as the user would type it in the workspace.
local function shown(self, name)
    local root = self.ws.folder .. "/"
    return format.utf8(name:sub(1, #root) == root and name:sub(#root + 1) or name)
end

--- The folder of a trial's records, as the user would type it in the workspace.
function Session:files_of(n) return shown(self, trial_folder(self, n)) end

--- Closes the open trial with its record (ako.trial, with verdict and reason) and its evidence (ako.evidence). A kept
--- one is the new best. Returns the record.
Session.close_trial = fault.returns(function(self, record, given)
    local intent = self.open
    record.kind, record.tree, record.commit = "trial", intent.tree, intent.commit
    record.time_s, record.files = os.time(), self:files_of(record.trial)
    evidence.write(trial_folder(self, record.trial), record, given)
    append(self, record)
    return record
end)

-- Git takes no message with a NUL in it, which a reason of anybody's may hold.
local function put_on_branch(self, what)
    what.message = format.text(what.message)
    return branch.commit(self, self.header.git or {}, what, self.branch, function(line) append(self, line) end)
end

--- Puts on the session's branch what belongs there and is not yet there: the kept trials, of a policy that wants
--- `every` one the others too. `paths` are files of the workspace that are committed with them, as they are now.
Session.publish = fault.returns(function(self, paths)
    for _, n in ipairs { table.unpack(self.pending) } do
        local record = self.history[n + 1]
        put_on_branch(self, { trial = n, tree = record.tree, message = branch.message(record), paths = paths })
    end
    local line = self.unpublished
    if line then
        local message = ("[override] %s trial %d: %s\n"):format(line.verdict, line.trial, line.reason)
        put_on_branch(self, { trial = line.trial, override = true, tree = self.best.tree, message = message,
            paths = paths })
    end
    return true
end)

--- Puts the best's tree on the branch once more, with a message of the policy's, at the end, unless that was done
--- before a kill. Returns the commit's oid.
Session.publish_final = fault.returns(function(self, message, paths)
    local best = self.best or self.original
    if self.final and self.final.trial == best.trial then return self.final.oid end
    return put_on_branch(self, { trial = best.trial, final = true, tree = best.tree, message = message .. "\n",
        paths = paths }).oid
end)

--- Tags a commit at the end. The journal knows of it first: what a kill left of it is this session's. Nil, a message
--- and EXISTS where somebody else has the name.
Session.publish_tag = fault.returns(function(self, name, oid, message)
    local again = self.tagging == name
    append(self, { kind = "tag", name = name })
    local made, problem, code = self.repo:tag(name, oid, message)
    if made or again and code == "EXISTS" then return true end
    fault.raise(code, "%s", problem)
end)

--- Puts the best's bytes back into the workspace. Files that hold anything but the bytes of `attempt` (a commit, a blob
--- or several of them) or of the best belong to the user and stay: then nil, a message that names the file, and BUSY.
function Session:restore(attempt)
    local kept = self.best or self.original
    if not kept then return true end
    local expect = { kept.commit, table.unpack(type(attempt) == "table" and attempt or { attempt }) }
    return self.repo:restore(kept.commit, self.paths, { remove = true, expect = expect })
end

--- Notes that the workspace holds what it should, where the journal does not say so yet.
Session.settle = fault.returns(function(self) return not self.placed or append(self, { kind = "restored" }) end)

--- Sets the branch's ref to its last commit, where a kill came between the journal's line and that.
Session.set_branch = fault.returns(function(self)
    if not self.branch then return true end
    return branch.repair(self, self.header.git or {}, self.branch, function(line) append(self, line) end) ~= nil
end)

-- By hand

--- The record of trial `n`; raises a fault where there is none, or it is still open.
function session.record(state, n)
    local record = state.history[n + 1]
    if record then return record end
    if state.open and state.open.trial == n then
        fault.raise("BUSY", "trial %d of session %s is still open", n, state.name)
    end
    local last = #state.history - 1
    fault.raise("NOTFOUND", "session %s has no trial %d; %s", state.name, n,
        last < 0 and "it has none yet" or last == 0 and "it has trial 0" or ("it has 0 to %d"):format(last))
end

--- Adds words of the author's to the journal. given: text; trial (a number; the last one), topic, file (a path in the
--- workspace) and hash (the oid of what it held). Returns the line; .after is the last trial where it is about an
--- older one. INVALID for neither text nor file.
Session.note = fault.returns(function(self, given)
    local text = format.utf8(given.text or "")
    if not text:find("%S") and not given.file then
        fault.raise("INVALID", "a note needs words (-m TEXT) or a file (--file=F)")
    end
    if given.trial then session.record(self, given.trial) end
    local line = { kind = "note", time_s = os.time(), trial = given.trial, text = text,
        topic = given.topic and format.utf8(given.topic), file = given.file and format.utf8(given.file),
        hash = given.hash }
    local last = #self.history - 1
    if last >= 0 and not line.trial then line.trial = last end
    if line.trial and line.trial < last then line.after = last end
    append(self, line)
    return line
end)

--- Overrides the verdict of trial `n` by hand: "keep" makes it the best, "revert" takes it back, so that the one kept
--- before it is the best again. `reason` in words; `forced` where the trial had not passed. The journal's line comes
--- first, then the branch and the workspace's files; what is there of the user's own stays. Returns { record, before
--- (the best until then), best, left_alone (why the files stayed, or nil) }. INVALID for what would change nothing.
Session.override = fault.returns(function(self, n, verdict, reason, forced)
    local record, before = session.record(self, n), self.best
    local after = overriding.best(self, record, verdict)
    session.check_kept(self.repo, after)
    local line = { kind = "override", time_s = os.time(), trial = n, verdict = verdict, reason = format.utf8(reason),
        forced = forced or nil }
    if after ~= before then line.from = before and before.commit end
    append(self, line)
    local result = { record = record, before = before, best = self.best }
    if after == before then return result end
    must(self:publish())
    local restored, problem, code = self:restore(line.from)
    if code == "BUSY" then result.left_alone = problem else must(restored, problem, code) end
    append(self, { kind = "restored" })
    return result
end)

--- Writes the last line; the session takes no more trials.
Session.finish = fault.returns(function(self, facts)
    local line = { kind = "finish", time_s = os.time(), best = self.best and self.best.trial }
    for key, value in pairs(facts or {}) do line[key] = value end
    append(self, line)
    return line
end)

--- The files of the solution that the best (or `record`) has: { { name (path in the workspace), text } }.
Session.sources = fault.returns(function(self, record)
    local sources = {}
    for i, name in ipairs(self.paths) do
        sources[i] = { name = name, text = still_there(self, self.repo:read(record.commit, name)) }
    end
    return sources
end)

--- Takes a session back in which nothing has been tried or noted: as if it had not been started.
function Session:discard()
    if #self.history > 0 or self.open or (self.notes and #self.notes > 0) then return end
    self:close()
    fs.remove_tree(self.folder)
end

--- Gives the journal back; closing twice is fine.
function Session:close()
    if self.journal then self.journal:close() end
    self.journal = nil
end

return session

-- The story that a session's journal tells, as a table that grows line by line:
--   header, control, finished     the last line of that kind; `resumed` that of the last time a run went on
--   history, notes                records and notes (ako.lines: read when they are asked for)
--   counts                        of the records' verdicts, the baseline not counted
--   original, best, first_right   records; the original is the first one, or else the first that passed; `kept` the
--                                 numbers of the kept ones, the best last
--   overrides                     the lines
--   branch                        the last line about the session's branch; `pending` the numbers of the trials that
--                                 are still to come on it, `unpublished` the override that is
--   open                          an intent without its record
--   proposing                     the line of a proposal of which nothing has come yet; `proposals` how many there were
--   placed                        what the workspace may hold of a candidate, also of one just tried and not kept (then
--                                 `dropped` is its number), or of what was the best until an override
--   final                         the branch's line of the policy's last commit, while no trial has come behind it
--   tagging                       the name of the last tag that was to be made
--   setting                       the last line about the branch while nothing has begun since: its ref may not be set
--
-- Beside the journal lies index.json: the same table as it was after the last line, and its hash. It is a cache: it
-- counts only while both it and the journal are the very files that were written together; without it the whole journal
-- is read.

local fault = require "ako.fault"
local fs = require "ako.fs"
local git = require "ako.git"
local host = require "ako.host"
local intact = require "ako.intact"
local journal = require "ako.journal"
local json = require "ako.json"
local lines = require "ako.lines"
local seal = require "ako.seal"

local story = {}

local UNSAVED = { path = true, seen = true, saved = true } -- of a story's fields, in the index

-- Taking lines

-- What later trials are compared with and what comes back after them: the last one kept, or else the first one that was
-- right, whatever was thought of its figure.
local function best_of(state)
    local kept = state.kept[#state.kept]
    return kept and state.history[kept + 1] or state.first_right
end

local function count(state, record, verdict, change)
    if record.trial > 0 then state.counts[verdict] = state.counts[verdict] + change end
end

local function take_record(state, record, at)
    lines.add(state.history, record, at)
    count(state, record, record.verdict, 1)
    if record.status == "PASSED" and not state.first_right then state.first_right = record end
    local kept, every = record.verdict == "keep", state.header and state.header.git and state.header.git.every
    if kept then state.kept[#state.kept + 1] = record.trial end
    if kept or every then state.pending[#state.pending + 1] = record.trial end
    local start = state.original -- none where a journal without its first trial was made by hand
    local is_start = record.trial == 0 or (record == state.first_right and not (start and start.status == "PASSED"))
    if is_start then state.original, state.control = record, record.control end
    state.best = best_of(state)
    if record.candidate and not kept and state.best then state.placed, state.dropped = record.commit, record.trial end
end

local function mark(record, override) record.override, record.override_reason = override.verdict, override.reason end

-- What a person keeps is the best from then on; what one takes back is as if it had never been kept.
local function take_override(state, line)
    local record = state.history[line.trial + 1]
    for i = #state.kept, 1, -1 do
        if state.kept[i] == line.trial then table.remove(state.kept, i) end
    end
    if line.verdict == "keep" then state.kept[#state.kept + 1] = line.trial end
    count(state, record, record.override or record.verdict, -1)
    count(state, record, line.verdict, 1)
    mark(record, line)
    lines.touch(state.history, line.trial + 1)
    state.overrides[#state.overrides + 1] = line
    state.best = best_of(state)
    state.placed, state.overriding, state.unpublished = line.from, line.from and line.trial, line.from and line
end

local function take_branch(state, line)
    state.branch, state.setting = line, line
    if line.override then state.unpublished = nil end
    if line.final then state.final = line end
    if line.override or line.final then return end
    while state.pending[1] and state.pending[1] <= line.trial do table.remove(state.pending, 1) end
end

-- Whatever comes after a trial that was not kept, or a commit on the branch, comes after all that belongs to it; but
-- files are put back before the branch is looked at.
local function settle(state, line)
    if line.kind == "note" then return end
    if state.dropped then state.placed, state.dropped = nil, nil end
    if line.kind ~= "restored" then state.setting = nil end
end

--- Takes a line that begins at byte `at` of the journal into the story. What a line of any kind means is said here and
--- nowhere else.
function story.take(state, line, at)
    settle(state, line)
    if line.kind == "session" then
        state.header = line
    elseif line.kind == "control" then
        state.control = line
    elseif line.kind == "place" then
        state.placed = line.oids or line.oid
    elseif line.kind == "propose" then
        state.proposing, state.proposals = line, line.proposal
    elseif line.kind == "restored" then
        state.placed, state.overriding, state.proposing = nil, nil, nil
    elseif line.kind == "intent" then
        state.open, state.placed, state.proposing = line, nil, nil
    elseif line.kind == "trial" then
        state.open, state.final = nil, nil
        take_record(state, line, at)
    elseif line.kind == "note" then
        lines.add(state.notes, line, at)
    elseif line.kind == "override" then
        take_override(state, line)
    elseif line.kind == "branch" then
        take_branch(state, line)
    elseif line.kind == "resume" then
        state.resumed = line
    elseif line.kind == "tag" then
        state.tagging = line.name
    elseif line.kind == "finish" then
        state.finished = line
    end
end

-- Reading

-- What is wrong with a line where it stands, behind so many trials, whatever it looks like.
local function misplaced(line, trials)
    local spoken_of = (line.kind == "override" or line.kind == "note") and line.trial
    if spoken_of and spoken_of >= trials then
        return ("%s: there is no trial %d before it"):format(line.kind, spoken_of)
    elseif (line.kind == "trial" or line.kind == "intent") and line.trial ~= trials then
        return ("%s: trial %d where trial %d is next"):format(line.kind, line.trial, trials)
    end
end

-- Gives each line that is as it was written to take(line, at); a fault names the first that is not.
local function each_line(path, take)
    local number, trials, first_timed = 0, 0, nil
    local reader, problem, code = journal.read(path, function(line, at)
        number = number + 1
        local wrong = intact.line(line, first_timed) or misplaced(line, trials)
        if wrong then
            fault.raise("CORRUPT", "%s:%d: damaged: %s; restore the file from a copy", path, number, wrong)
        end
        if line.kind == "trial" then trials = trials + 1 end
        if line.kind == "trial" and line.time_ns then first_timed = first_timed or line end
        take(line, at)
    end)
    if not reader then fault.raise(code, "%s", problem) end
    return number
end

-- The line of a kind at `at` of a journal that was whole when its places were noted: that it is as it was written, was
-- seen then.
local function read_line(path, at, kind)
    local line, problem, code
    if at then line, problem, code = journal.at(path, at) end
    if line and line.kind == kind then return line end
    if code and code ~= "CORRUPT" then fault.raise(code, "%s", problem) end
    each_line(path, function() end) -- which names the line
    fault.raise("CORRUPT", "%s changed while it was being read", path)
end

--- An empty story of the journal at `path`. `texts` are of lists that index.json has.
function story.new(path, texts)
    local state = { path = path, overrides = {}, kept = {}, pending = {},
        counts = { keep = 0, revert = 0, inconclusive = 0 } }
    local function read_record(at)
        local record = read_line(path, at, "trial")
        for _, override in ipairs(state.overrides) do
            if override.trial == record.trial then mark(record, override) end
        end
        return record
    end
    texts = texts or {}
    state.history = lines.new(read_record, texts.history)
    state.notes = lines.new(function(at) return read_line(path, at, "note") end, texts.notes)
    return state
end

-- The index

local function index_of(path) return fs.join(fs.dirname(path), "index.json") end

-- Another version of this file may see other things in the same lines.
local function version() return fs.hash(fs.join(host.home, "stdlib/ako/story.lua")) end

--- Writes the index and, behind it, its hash. It may be missing, so a disk that has no room for it is no fault.
function story.save(state)
    local index = { v = version(), journal = seal.identity(state.path), values = {}, records = {}, lists = {} }
    for name, value in pairs(state) do
        if lines.is_list(value) then
            index.lists[name] = lines.text(value)
        elseif type(value) == "table" and value.kind == "trial" then
            index.records[name] = value.trial
        elseif not UNSAVED[name] then
            index.values[name] = value
        end
    end
    local text = json.encode(index) .. "\n"
    local written, problem, code = fs.write(index_of(state.path), text .. git.hash(text) .. "\n")
    state.saved = written and index.journal -- the journal that the index is of
    return written, problem, code
end

local function decode_index(path)
    local text, hash = (fs.read(index_of(path)) or ""):match("^(.*\n)(%x+)\n$")
    local index = text and hash == git.hash(text) and json.decode(text)
    if type(index) == "table" and index.journal == seal.identity(path) and index.v == version() then return index end
end

-- The story by the index, nil where that is not of this journal.
local function recall(path)
    local index = decode_index(path)
    if not index then return nil end
    local state = story.new(path, index.lists)
    state.saved = index.journal
    for name, value in pairs(index.values) do state[name] = value end
    for name, trial in pairs(index.records) do
        state[name] = fault.check(state.history[trial + 1], "no trial %s", trial)
    end
    return state
end

--- Reads the story of the journal at `path`. Returns it and the number of its lines (nil: by the index), or raises
--- CORRUPT with the damaged line, or what the system says. `begin(state)` is called before, so that what was understood
--- of a damaged journal is known.
function story.read(path, begin)
    local seen = seal.identity(path)
    local state, number = fault.catch(recall, path), nil
    if not state then
        state = story.new(path)
        if begin then begin(state) end
        number = each_line(path, function(line, at) story.take(state, line, at) end)
    end
    state.seen = seen
    return state, number
end

--- The story as it is now that nobody else can write: the one given, or a fresh one where another process has written
--- since it was read. Leaves a fresh index.
function story.renew(state)
    local fresh = state.seen == seal.identity(state.path) and state or story.read(state.path)
    fresh.name = state.name
    if fresh.header and fresh.saved ~= seal.identity(fresh.path) then story.save(fresh) end
    return fresh
end

return story

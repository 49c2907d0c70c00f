-- The verbs by which somebody adds to a session by hand, without measuring anything: note.

local console = require "ako.console"
local exits = require "ako.exits"
local fault = require "ako.fault"
local fs = require "ako.fs"
local idle = require "ako.idle"
local json = require "ako.json"
local log = require "ako.log"
local opening = require "ako.opening"
local pick = require "ako.pick"
local report = require "ako.report"
local session = require "ako.session"

local amend = {}

local function must(result, problem, code)
    if result == nil then fault.raise(code, "%s", problem) end
    return result
end

local function answer(ctx, lines, object)
    must((ctx.console or console).out(ctx.host.json and json.encode(object) .. "\n" or report.text(lines)))
    return exits.DONE
end

-- Notes

-- A file as a note has it: its path in the workspace, or an absolute one, and the hash of what it holds.
local function note_file(typed, folder)
    local path = fs.exists(typed) and typed or fs.join(folder, typed)
    local full = fs.absolute(path)
    if not full then fault.raise("NOTFOUND", "--file: no file %s", typed) end
    fault.check(not fs.is_dir(full), "--file: %s is a folder; name a file", typed)
    local hash = must(fs.hash(full))
    local root = folder .. "/"
    return full:sub(1, #root) == root and full:sub(#root + 1) or full, hash
end

-- What is under way in the session stays as it is: a proposer may add notes while the run that wants its edit waits.
local function open_as_it_is(state)
    local ws = { repo = state.repo, folder = state.ws.folder, task = { solution = { files = state.paths } } }
    return must(session.open(ws, state.state))
end

-- A session that begins with a note: the first trial goes on with it.
local function begin(ctx)
    local started <close> = idle.start(ctx)
    opening.check_place(started)
    started:prepare()
    return opening.new(started, "note")
end

-- The session that a note belongs to, and whether it is a new one. One that is finished is meant only where it, or a
-- trial of it, is named.
local function session_of(ctx, about)
    local state = pick.find(ctx)
    local is_meant = state and (not state.finished or about or ctx.host.session)
    if is_meant then return open_as_it_is(state), false end
    if about then fault.raise("NOTFOUND", "there is no session yet, so there is no trial %d", about) end
    return begin(ctx), true
end

--- note [N]: words or a file of the author's, about trial N or the last one; before the first trial they begin a
--- session that it goes on with.
function amend.note(ctx)
    local given, about = ctx.verb_options or {}, (ctx.operands or {})[1]
    local text, folder = given.message or "", ctx.host.workspace or "."
    if not text:find("%S") and not given.file then
        fault.raise("INVALID", "a note needs words (-m TEXT) or a file (--file=FILE)")
    end
    local file, hash
    if given.file then file, hash = note_file(given.file, fs.absolute(folder) or folder) end
    local opened, is_new = session_of(ctx, about)
    local words = { text = text, trial = about, topic = given.topic, file = file, hash = hash }
    local line, problem, code = opened:note(words)
    if is_new then opened:discard() end -- where nothing was noted
    opened:close()
    must(line, problem, code)
    local object = { v = 1, session = opened.name, started = is_new, trial = line.trial or json.null,
        topic = line.topic, text = line.text, file = line.file, hash = line.hash }
    local where = line.trial and ("about trial %d"):format(line.trial) or "before the first trial"
    local text_line = ("noted in %ssession %s, %s: %s"):format(is_new and "the new " or "", opened.name, where,
        log.note(line))
    return answer(ctx, { text_line }, object)
end

return amend

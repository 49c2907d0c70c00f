-- The verbs by which somebody adds to a session by hand: note.
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local scripted = require "scripted"
local t = require "ako.tap"
local verbs = require "ako.verbs"

-- Code, stdout and stderr of a verb in a folder.
local function call(folder, verb, operands, options, host)
    local ctx = scripted.context(folder, host, options)
    ctx.operands = operands or {}
    local code = verbs[verb](ctx)
    return code, ctx.console.stdout, ctx.console.stderr
end

local function object_of(folder, verb, operands, options, host)
    host = host or {}
    host.json = true
    local _, text, problem = call(folder, verb, operands, options, host)
    t.eq({ problem, select(2, text:gsub("\n", "")) }, { "", 1 })
    return assert(json.decode(text))
end

local function notes_of(folder) return object_of(folder, "log", nil, { notes = true }).notes end

local function gate(run)
    if #run.notes == 0 then return "note what you plan" end
end

t.test("a note before the first trial begins a session, with which the trial goes on", function()
    local folder = scripted.task_folder "time=100"
    local code, text = call(folder, "note", nil, { message = "read the paper", topic = "plan" })
    t.eq(code, 0)
    t.match(text, "^noted in the new session scale%-%d+T%d+Z, before the first trial: %[plan%] read the paper\n$")
    local name = object_of(folder, "status").session
    t.eq(object_of(folder, "note", nil, { message = "more" }).session, name)
    assert(fs.write(folder .. "/reference.c", "void scale(void); // mended before anything was tried\n"))
    t.eq(call(folder, "try", nil, nil, { policy = { gate = gate } }), 0)
    local status = object_of(folder, "status")
    t.eq({ status.session, status.trials, status.best.trial, status.device.name }, { name, 0, 0, "Scripted CPU" })
    t.eq(#notes_of(folder), 2)
end)

t.test("run begins the session that only has notes, and a gate sees them", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50" })
    local options = { candidates = folder .. "/candidates" }
    t.eq(call(folder, "run", nil, options, { policy = { gate = gate } }), 13)
    local begun = object_of(folder, "note", nil, { message = "plan" })
    t.eq({ begun.started, begun.trial }, { true, json.null })
    t.eq(call(folder, "run", nil, options, { policy = { gate = gate } }), 0)
    local status = object_of(folder, "status")
    t.eq({ status.session, status.trials, status.best.trial, status.finished }, { begun.session, 1, 1, true })
    t.eq(object_of(folder, "note", nil, { message = "for the next one" }).started, true)
    t.eq(object_of(folder, "note", { 1 }, { message = "of the new one?" }, { session = begun.session }).session,
        begun.session)
end)

t.test("a note on a trial, with a file and its hash", function()
    local folder = scripted.task_folder "time=100"
    t.eq(call(folder, "try"), 0)
    assert(fs.write(folder .. "/profile.txt", "stalls\n"))
    local noted = object_of(folder, "note", { 0 }, { file = "profile.txt", topic = "profile" })
    t.eq({ noted.trial, noted.file, noted.hash, noted.text, noted.started },
        { 0, "profile.txt", git.hash "stalls\n", "", false })
    t.eq(notes_of(folder)[1].hash, git.hash "stalls\n")
end)

t.test("a note without words, on no trial, or with no file is refused and leaves nothing", function()
    local folder = scripted.task_folder "time=100"
    local function refused(options, text, operands)
        local code, _, problem = call(folder, "note", operands, options)
        t.eq({ code, problem }, { 2, "ako-lua: " .. text .. "\n" })
    end
    refused({}, "a note needs words (-m TEXT) or a file (--file=FILE)")
    refused({ message = " " }, "a note needs words (-m TEXT) or a file (--file=FILE)")
    refused({ file = "nope.txt" }, "--file: no file nope.txt")
    refused({ file = "solution" }, "--file: solution is a folder; name a file")
    refused({ message = "x" }, "there is no session yet, so there is no trial 3", { 3 })
    t.ok(not fs.exists(folder .. "/.git"))
    t.eq(call(folder, "try"), 0)
    local code, _, problem = call(folder, "note", { 3 }, { message = "x" })
    t.eq(code, 2)
    t.match(problem, "^ako%-lua: session scale%-%w+ has no trial 3; it has trial 0\n$")
end)

t.test("a note where no task is: nothing is made", function()
    local folder = t.tmpdir()
    local code, _, problem = call(folder, "note", nil, { message = "x" })
    t.eq(code, 2)
    t.match(problem, "no task")
    t.eq(fs.list(folder), {})
end)

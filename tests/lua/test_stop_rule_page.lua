-- docs/writing-a-stop-rule.md: every command in it works, one after the other, and prints what the page says, but for
-- figures, folders and what follows from measurements.
local fs = require "ako.fs"
local process = require "ako.process"
local program = require "program"
local t = require "ako.tap"

local PAGE = assert(fs.read(fs.join(t.home, "docs/writing-a-stop-rule.md")))
local ROOT = fs.join(program.folder, "page")
local LIMIT_NS = 600 * program.second_ns -- the device may be busy with other tests

-- The blocks of a page: { kind ("lua" or ""), text, before (what is said since the one before) }.
local function blocks(page)
    local list, at = {}, 1
    while true do
        local first, last, kind, text = page:find("\n```(%w*)\n(.-)\n```", at)
        if not first then return list end
        list[#list + 1] = { kind = kind, text = text, before = page:sub(at, first) }
        at = last + 1
    end
end

-- { command, lines } of a block.
local function commands(text)
    local list = {}
    for line in text:gmatch("[^\n]+") do
        local command = line:match("^%$ (.*)$")
        if command then
            list[#list + 1] = { command = command, lines = {} }
        else
            table.insert(list[#list].lines, line)
        end
    end
    return list
end

-- What a machine that is not quiet may measure, and so decide, is not the page's to say.
local MEASURED = { "^best: ", "^stops ", "^does not stop: " }

-- A line without its figures; of one about a session its name.
local function plain(line)
    local name = line:match("^session %w+: ") or line:match("^in /.*(: the solution, branch .*)/%w+, records in ")
    return name or (line:gsub("%d[%d.]*", "#"))
end

local function is_measured(command, line)
    for _, pattern in ipairs(MEASURED) do
        if command:find("--session=", 1, true) and line:find(pattern) then return true end
    end
    return line:find("^%s*%.%.%.$") ~= nil
end

local function has(output, wanted)
    for line in output:gmatch("[^\n]+") do
        if plain(line) == plain(wanted) then return true end
    end
    return false
end

local folder = ROOT

local function run(command)
    local script = ("PATH='%s/bin':$PATH; cd '%s' && { %s\n} 2>&1; code=$?; pwd >'%s/cwd'; exit $code"):format(ROOT,
        folder, command, ROOT)
    local result = assert(process.run { "sh", "-c", script, limit_ns = LIMIT_NS })
    folder = assert(fs.read(ROOT .. "/cwd")):match("[^\n]+")
    return result
end

local function prepare()
    assert(fs.mkdirs(ROOT .. "/bin"))
    local wrapper = ("#!/bin/sh\nAKO_HOME='%s' exec '%s' \"$@\"\n"):format(t.home, program.path)
    assert(fs.write(ROOT .. "/bin/ako-lua", wrapper))
    assert(process.run { "chmod", "+x", ROOT .. "/bin/ako-lua" })
    assert(process.run { "ln", "-s", fs.join(t.home, "examples"), ROOT .. "/examples" })
end

local PARTS = blocks(PAGE)
prepare()

for _, part in ipairs(PARTS) do
    if part.kind == "lua" then
        local name = part.before:match(".*`(%w+%.lua)`")
        assert(fs.write(fs.join(folder, name), part.text .. "\n"))
    end
    for _, step in ipairs(part.kind == "" and commands(part.text) or {}) do
        t.test("$ " .. step.command, function()
            local result = run(step.command)
            t.ok(result.ok, result.how .. "\n" .. result.stdout)
            for _, line in ipairs(step.lines) do
                local good = is_measured(step.command, line) or has(result.stdout, line)
                t.ok(good, line .. "\nis not in\n" .. result.stdout)
            end
        end)
    end
end

t.test("there was something to try", function() t.ok(#PARTS >= 10) end)

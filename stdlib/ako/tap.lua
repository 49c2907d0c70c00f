-- Tests in the Test Anything Protocol. A test file is a chunk that calls t.test; tests/lua/run.lua runs the files.

local console = require "ako.console"
local exits = require "ako.exits"
local fs = require "ako.fs"
local host = require "ako.host"

local tap = { home = host.home }

local Skip = {}
local folders = {}
local count = { run = 0, failed = 0, skipped = 0 }

local SHOWN = 2000 -- bytes of a string in a message

-- Text of a value for messages: strings quoted, tables with sorted keys.
local function show(value, depth)
    if type(value) == "string" then return (("%q"):format(value:sub(1, SHOWN)):gsub("\\\n", "\\n")) end
    if type(value) ~= "table" then return tostring(value) end
    if (depth or 0) > 4 then return "{...}" end
    local parts = {}
    for key, item in pairs(value) do
        parts[#parts + 1] = ("[%s]=%s"):format(show(key, 5), show(item, (depth or 0) + 1))
    end
    table.sort(parts)
    return "{" .. table.concat(parts, ", ") .. "}"
end

local function equal(a, b)
    if a == b then return true end
    if type(a) ~= "table" or type(b) ~= "table" then return math.type(a) == nil and a ~= a and b ~= b end
    for key, value in pairs(a) do
        if not equal(value, b[key]) then return false end
    end
    for key in pairs(b) do
        if a[key] == nil then return false end
    end
    return true
end

local function fail(message, ...) error(message:format(...), 3) end

local function report(verdict, name, remark)
    console.out(("%s %d - %s%s\n"):format(verdict, count.run, name, remark))
end

local function report_failure(name, problem)
    count.failed = count.failed + 1
    report("not ok", name, "\n# " .. tostring(problem):gsub("\n", "\n# "))
end

--- Runs a test and prints its line; its failures don't end the file. Each test has a running time budget of its own.
function tap.test(name, body)
    count.run = count.run + 1
    host.refill()
    local ran, problem = host.call(body)
    if ran then
        report("ok", name, "")
    elseif type(problem) == "table" and problem.skip == Skip then
        count.skipped = count.skipped + 1
        report("ok", name, " # SKIP " .. problem.why)
    elseif host.is_leave(problem) and problem.code == exits.INTERRUPTED then
        error(problem, 0)
    else
        report_failure(name, problem)
    end
end


--- `got` equals `want`: the same value, or tables that hold equal values under equal keys. 1 and 1.0 are equal.
function tap.eq(got, want, message)
    if not equal(got, want) then
        fail("%sgot %s\nwant %s", message and message .. ": " or "", show(got), show(want))
    end
end

--- The condition is true (neither nil nor false).
function tap.ok(condition, message)
    if not condition then fail("%s", tostring(message or "expected something true")) end
end

--- `text` is a string that matches the Lua pattern.
function tap.match(text, pattern)
    if type(text) == "string" and text:find(pattern) then return end
    fail("%s does not match %s", show(text), show(pattern))
end

--- f(...) raises an error whose text matches the pattern.
function tap.err(pattern, f, ...)
    local ran, problem = pcall(f, ...)
    if ran then fail("nothing was raised; wanted %s", show(pattern)) end
    local text = tostring(problem)
    if not text:find(pattern) then fail("raised %s, which does not match %s", show(text), show(pattern)) end
end

--- The results of a function that failed: nil (or false), a message that matches, and the code `want` when given.
function tap.fails(pattern, result, message, code, want)
    if result then fail("got %s; wanted a failure", show(result)) end
    if type(message) ~= "string" or not message:find(pattern) then
        fail("message %s does not match %s", show(message), show(pattern))
    end
    if want and code ~= want then fail("code %s; wanted %s", show(code), show(want)) end
end

--- Ends the present test, which counts as skipped.
function tap.skip(why) error({ skip = Skip, why = why }, 0) end

--- A fresh folder, removed when the program's tests are over.
function tap.tmpdir()
    local folder = assert(fs.temp_dir("ako-test"))
    folders[#folders + 1] = folder
    return folder
end

--- The parameter names of a Lua function, "..." last; nil for a function in C.
function tap.parameters(f) return host.parameters(f) end

local function test_files(folder)
    local files = {}
    for _, name in ipairs(assert(fs.list(folder))) do
        if name:find("^test_.*%.lua$") then files[#files + 1] = fs.join(folder, name) end
    end
    return files
end

local beginnings = {}

--- Calls f() before each further file of tests: for what one file must not find of another.
function tap.before_file(f) beginnings[#beginnings + 1] = f end

local function run_file(file)
    console.out(("# %s\n"):format(file))
    for _, begin in ipairs(beginnings) do begin() end
    local chunk, problem = host.load(file, file, true)
    local ran = chunk ~= nil
    if ran then ran, problem = pcall(chunk) end
    if ran then return end
    if host.is_leave(problem) then error(problem, 0) end
    count.run = count.run + 1
    report_failure(file, problem)
end

local function remove_folders()
    for _, folder in ipairs(folders) do fs.remove_tree(folder) end
end

--- Ends the program with this exit code.
function tap.leave(code) error(host.leave(code, ""), 0) end

--- Runs the files, or each test_*.lua in the folder when there are none. Ends the program with 1 when a test failed.
function tap.run(folder, files)
    if #files == 0 then files = test_files(folder) end
    local _ <close> = setmetatable({}, { __close = remove_folders })
    for _, file in ipairs(files) do
        host.refill()
        run_file(file)
    end
    console.out(("1..%d\n# %d passed, %d failed, %d skipped\n"):format(count.run,
        count.run - count.failed - count.skipped, count.failed, count.skipped))
    if count.failed > 0 then tap.leave(1) end
end

return tap

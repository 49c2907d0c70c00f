-- ako.process: programs run to their end, and nothing of them stays.
local t = require "ako.tap"
local process = require "ako.process"
local fs = require "ako.fs"
local host = require "ako.host"

local function sh(text, options)
    options = options or {}
    table.insert(options, 1, "sh")
    table.insert(options, 2, "-c")
    table.insert(options, 3, text)
    return process.run(options)
end

t.test("output, code and time come back", function()
    local r = assert(sh "echo out; echo err >&2")
    t.eq(r.ok, true)
    t.eq(r.code, 0)
    t.eq(r.signal, nil)
    t.eq(r.how, "exit 0")
    t.eq(r.stdout, "out\n")
    t.eq(r.stderr, "err\n")
    t.eq(r.timed_out, false)
    t.ok(math.type(r.wall_ns) == "integer" and r.wall_ns > 0, "a time in integer nanoseconds")
end)

t.test("a program that fails or crashes is a result", function()
    local r = assert(sh "exit 3")
    t.eq(r.ok, false)
    t.eq(r.code, 3)
    r = assert(sh "kill -SEGV $$")
    t.eq(r.ok, false)
    t.eq(r.code, nil)
    t.eq(r.signal, "SIGSEGV")
    t.eq(r.how, "killed by SIGSEGV (segmentation fault)")
end)

t.test("a program that is not there is nil, message, code", function()
    t.fails("no such program: no%-such%-program", process.run { "no-such-program" })
    local _, _, code = process.run { "no-such-program" }
    t.eq(code, "NOTFOUND")
end)

t.test("stdin, folder and environment", function()
    local folder = t.tmpdir()
    local r = assert(process.run { "cat", stdin = ("x"):rep(200000) .. "\0end", output_cap = 1000000 })
    t.eq(#r.stdout, 200004)
    t.eq(r.stdout:sub(-4), "\0end")
    r = assert(sh("pwd -P; echo ${AKO_TEST_A-unset} ${HOME-unset}; command -v sh > /dev/null && echo path",
        { cwd = folder, env = { AKO_TEST_A = "a b", HOME = false } }))
    local where, variables, path = r.stdout:match("^(.-)\n(.-)\n(.-)\n$")
    t.eq(where:match("[^/]*$"), folder:match("[^/]*$"))
    t.eq(variables, "a b unset")
    t.eq(path, "path")
end)

t.test("no shell reads the arguments", function()
    t.eq(assert(process.run { "echo", "$HOME; `id`", "a  b", "" }).stdout, "$HOME; `id` a  b \n")
end)

t.test("the limit ends the whole tree", function()
    local folder, limit_ns = t.tmpdir(), 100000000
    local r
    repeat -- until the program has come as far as its output, however slow the machine
        limit_ns = 2 * limit_ns
        r = assert(sh("sleep 1000 & echo $! > pid; trap '' TERM; echo begun; sleep 1000",
            { cwd = folder, limit_ns = limit_ns }))
        t.eq(r.timed_out, true)
        t.eq(r.ok, false)
    until r.stdout ~= "" or limit_ns > 60000000000
    t.eq(r.stdout, "begun\n")
    local pid = assert(fs.read(fs.join(folder, "pid"))):match("%d+")
    t.ok(not fs.exists("/proc/" .. pid), "the background process is gone")
end)

t.test("long output keeps its head and its tail", function()
    local r = assert(sh("echo first; head -c 100000 /dev/zero; echo last", { output_cap = 1000 }))
    t.ok(#r.stdout < 1100, "it is capped")
    t.match(r.stdout, "^first\n")
    t.match(r.stdout, "last\n$")
    t.match(r.stdout, "bytes of output dropped here")
end)

t.test("waiting does not count as Lua's running time", function()
    local before = host.usage()
    local r = assert(sh "sleep 0.5")
    t.ok(host.usage() - before < r.wall_ns / 1e9 / 2, "the clock stood still meanwhile")
end)

t.test("a program beside this one", function()
    local child <close> = assert(process.start { "sh", "-c", "sleep 1000 & echo $! > pid; exit 3", cwd = t.tmpdir() })
    local ended = assert(child:wait())
    t.eq({ ended.ok, ended.code, ended.how }, { false, 3, "exit 3" })
    t.err("the child is over", child.wait, child)
    t.fails("no such program", process.start { "no-such-program" })
end)

t.test("it is waited for as long as one likes, and ended with all that it has started", function()
    local folder = t.tmpdir()
    local child <close> = assert(process.start { "sh", "-c", "sleep 1000 & echo $! > pid.new; mv pid.new pid; wait",
        cwd = folder })
    while not fs.exists(fs.join(folder, "pid")) do t.fails("still running", child:wait(1000000)) end
    child:close()
    t.ok(not fs.exists("/proc/" .. fs.read(fs.join(folder, "pid")):match("%d+")), "the background process is gone")
    child:close()
    t.err("the child is over", child.wait, child)
end)

t.test("wrong arguments raise", function()
    t.err("no program to run", process.run, {})
    t.err("table expected", process.run, "ls")
    t.err("NUL", process.run, { "echo", "a\0b" })
    t.err("limit_ns", process.run, { "echo", limit_ns = "soon" })
    t.err("output_cap", process.run, { "echo", output_cap = -1 })
    t.err("env", process.run, { "echo", env = { A = 1 } })
    t.err("env", process.run, { "echo", env = { ["A=B"] = "c" } })
    t.err("cwd", process.run, { "echo", cwd = {} })
end)

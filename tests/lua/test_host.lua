-- The host: limits that hold, a sandbox without holes, one line or a traceback, and clean ends.
local fs = require "ako.fs"
local host = require "ako.host"
local t = require "ako.tap"
local program = require "program"

local run, script, says, shell = program.run, program.script, program.says, program.shell

t.test("a script runs with its arguments", function()
    local r = script("print(arg[0], arg[1], select('#', ...), ...)", "one", "--two=3")
    t.eq(r.stdout, "script.lua\tone\t2\tone\t--two=3\n")
    t.eq(r.stderr, "")
    t.eq(r.code, 0)
end)

t.test("a #! line and a byte order mark are skipped, line numbers stay right", function()
    t.eq(script("#!/usr/bin/env ako-lua\nprint('ran')").stdout, "ran\n")
    t.eq(script("\xEF\xBB\xBFprint('ran')").stdout, "ran\n")
    t.match(script("#!/usr/bin/env ako-lua\nerror('here')").stderr, "^ako%-lua: script.lua:2: here\nstack traceback:")
    t.eq(script("#!").code, 0)
    t.eq(script("").code, 0)
end)

t.test("a run-time error has a traceback that ends where the user's code begins", function()
    local r = script("local function inner() local x; return x.y end\ninner()")
    t.eq(r.code, 4)
    t.match(r.stderr, "^ako%-lua: script.lua:1: attempt to index a nil value %(local 'x'%)\nstack traceback:\n")
    t.match(r.stderr, "script.lua:2: in main chunk\n$")
end)

t.test("errors that are no text", function()
    says(script "error({})", 4, "(error object is a table value)")
    says(script "error(setmetatable({}, { __tostring = function() return 'mine' end }))", 4, "mine")
    t.match(script("local function f() return f() + 1 end f()").stderr, "^ako%-lua: script.lua:1: stack overflow")
end)

t.test("what is no Lua text is one line", function()
    says(script "local x == 3", 4, "script.lua:1: unexpected symbol near '=='")
    says(script "x = { 1\n\n", 4, "script.lua:3: '}' expected (to close '{' at line 1) near <eof>")
    says(script "\27LuaT", 4, "script.lua: holds compiled Lua; only source text is accepted")
    says(script "return 3", 4, "script.lua: must return a policy, a table, or nothing, returned a number")
end)

t.test("files that cannot be read", function()
    says(run("nosuch.lua"), 2, "no policy or script 'nosuch.lua' here or among the bundled ones")
    says(run("kernelbnch"), 2, "no policy or script 'kernelbnch' here or among the bundled ones"
        .. " (did you mean 'kernelbench'?)")
    assert(fs.mkdirs(fs.join(program.folder, "folder.lua")))
    says(run("folder.lua"), 2, "folder.lua is a folder, not a Lua file")
    if shell("test -r /etc/shadow && test $(id -u) = 0").code == 0 then
        t.match(run("/proc/self/mem").stderr, "^ako%-lua: cannot read /proc/self/mem: ")
    else
        program.write("secret.lua", "")
        shell("chmod 0 secret.lua")
        says(run("secret.lua"), 2, "cannot read secret.lua: Permission denied")
    end
end)

-- Time

local function over(result, line) says(result, 4, line .. ": time budget of 0.3 s exceeded (--time-limit)") end

t.test("an endless loop ends, with the line on which it was", function()
    program.write("loop.lua", "local x = 0\nwhile true do\n    x = x + 1\nend")
    local r = run("--time-limit=0.3", "loop.lua")
    t.match(r.stderr, "^ako%-lua: loop.lua:[23]: time budget of 0.3 s exceeded %(%-%-time%-limit%)\n$")
    t.eq(r.code, 4)
end)

t.test("pcall, coroutines, xpcall's handler and __close cannot swallow the end of the time", function()
    local function ends(text)
        program.write("loop.lua", text)
        over(run("--time-limit=0.3", "loop.lua"), "loop.lua:1")
    end
    ends "while true do pcall(function() while true do end end) end"
    ends "while true do coroutine.wrap(function() pcall(function() while true do end end) end)() end"
    ends "local loop = function() while true do end end local x <close> = setmetatable({}, { __close = loop }) loop()"
end)

t.test("what the hook cannot reach is ended from outside", function()
    program.write("slow.lua", "local n = 40\nreturn (('a'):rep(n):find(('a?'):rep(n) .. ('a'):rep(n)))")
    over(run("--time-limit=0.3", "slow.lua"), "slow.lua")
    -- A message handler runs without the hook.
    program.write("slow.lua", "local function loop() while true do end end xpcall(loop, loop)")
    over(run("--time-limit=0.3", "slow.lua"), "slow.lua")
end)

local late_ran, late = host.call(function() while true do end end) -- here, since each test has a limit itself

t.test("a call into a policy has a limit of its own, after which its caller goes on", function()
    t.eq(late_ran, false)
    t.ok(host.is_leave(late))
    t.match(tostring(late), "^tests/lua/test_host.lua:%d+: time budget of 5 s exceeded$")
    t.eq(late.code, 4)
end)

t.test("time in core calls does not count", function()
    local r = run("--time-limit=0.1",
        program.write("wait.lua", "require('ako.clock').sleep_ns(300000000) print 'done'"))
    t.eq(r.stdout, "done\n")
    t.eq(r.code, 0)
end)

-- Memory

t.test("memory beyond the limit is one line", function()
    local line = "script.lua: needs more than the memory limit of 256 MB (--memory-limit)"
    says(script "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(10000) .. i end", 4, line)
    says(script "local s = ('x'):rep(2 ^ 30 | 0)", 4, line)
    program.write("script.lua", "local t = {} while true do t[#t + 1] = {} end")
    says(run("--memory-limit=8M", "script.lua"), 4,
        "script.lua: needs more than the memory limit of 8 MB (--memory-limit)")
end)

t.test("ten gigabytes at once are refused, and a script may go on without", function()
    t.match(script("local s = ('x'):rep(10 * 2 ^ 30 | 0)").stderr,
        "^ako%-lua: script.lua:1: resulting string too large")
    t.eq(script("print((pcall(string.rep, 'x', 2 ^ 30 | 0)))").stdout, "false\n")
end)

t.test("with any little memory the program ends in order", function()
    program.write("script.lua", "local t = {} for i = 1, 1000 do t[i] = i .. 'x' end print 'done'")
    for kilobytes = 8, 400, 8 do
        local r = run(("--memory-limit=%dK"):format(kilobytes), "script.lua")
        if r.code ~= 0 then
            t.match(r.stderr, "^ako%-lua: [^\n]*needs more than the memory limit of %d+ KB %(%-%-memory%-limit%)\n$")
        end
    end
end)

-- The sandbox

t.test("globals must exist and cannot be made", function()
    t.match(script("\nprint(foo)").stderr, "^ako%-lua: script.lua:2: undefined global 'foo'\n")
    t.match(script("\nfoo = 1").stderr, "^ako%-lua: script.lua:2: assignment to global 'foo': declare it local\n")
    t.match(script("print = 1").stderr, "assignment to global 'print'")
    t.match(script("string.rep = 1").stderr, "attempt to change 'rep' of a read%-only table")
    t.match(script("rawset(string, 'rep', 1)").stderr, "attempt to change a read%-only table")
    t.match(script("rawset(_G, 'x', 1)").stderr, "attempt to change a read%-only table")
    t.match(script("table.insert(math, 1)").stderr, "read%-only table")
    t.match(script("setmetatable(_G, {})").stderr, "cannot change a protected metatable")
    t.match(script("getmetatable('').__index = nil").stderr, "attempt to index a string value")
end)

t.test("the globals are exactly these", function()
    local r = script [[
        local names = {}
        for name, value in pairs(_G) do
            names[#names + 1] = name
            if type(value) == "table" and value ~= _G and name ~= "arg" then
                for inner in pairs(value) do names[#names + 1] = name .. "." .. inner end
            end
        end
        table.sort(names)
        print(table.concat(names, " "))
    ]]
    t.eq(r.stdout, table.concat({
        "_G _VERSION arg assert collectgarbage coroutine coroutine.close coroutine.create coroutine.isyieldable",
        "coroutine.resume coroutine.running coroutine.status coroutine.wrap coroutine.yield debug debug.traceback",
        "error getmetatable ipairs load math math.abs math.acos math.asin math.atan math.ceil math.cos math.deg",
        "math.exp math.floor math.fmod math.huge math.log math.max math.maxinteger math.min math.mininteger math.modf",
        "math.pi math.rad math.random math.randomseed math.sin math.sqrt math.tan math.tointeger math.type math.ult",
        "next os os.clock os.date os.getenv os.time pairs pcall print rawequal rawget rawlen rawset require select",
        "setmetatable string string.byte string.char string.find string.format string.gmatch string.gsub string.len",
        "string.lower string.match string.pack string.packsize string.rep string.reverse string.sub string.unpack",
        "string.upper table table.concat table.insert table.move table.pack table.remove table.sort table.unpack",
        "tonumber tostring type utf8 utf8.char utf8.charpattern utf8.codepoint utf8.codes utf8.len utf8.offset warn",
        "xpcall" }, " ") .. "\n")
end)

t.test("load takes text only and gives the same guarded globals", function()
    t.eq(script("print(load('return 1 + 1')())").stdout, "2\n")
    t.eq(script("print(load('return x', 'n', 'b', { x = 5 })())").stdout, "5\n")
    t.match(script("print(load('\\27Lua', 'n', 'b'))").stdout, "attempt to load a binary chunk")
    t.match(script("load('foo = 1')()").stderr, "assignment to global 'foo'")
end)

t.test("require finds our modules and the file's own folder, nothing else", function()
    program.write("side/module.lua", "return { value = ... }")
    program.write("side/main.lua", "print(require('module').value, require('ako.json') ~= nil)")
    t.eq(run("side/main.lua").stdout, "module\ttrue\n")
    program.write("side/a.lua", "return require 'b'")
    program.write("side/b.lua", "return require 'a'")
    program.write("side/loop.lua", "require 'a'")
    t.match(run("side/loop.lua").stderr, "module 'a' requires itself")
    t.match(script("require 'module'").stderr, "module 'module' not found among ako%-lua's own and in %.")
    t.match(script("require 'ako.host'").stderr, "module 'ako.host' not found")
    for _, name in ipairs { "..side.module", "side/module", "/etc/passwd", "", ".", "a..b", "x\0y" } do
        t.match(script(("require %q"):format(name)).stderr, "bad module name")
    end
    program.write("side/broken.lua", "return (")
    program.write("side/uses.lua", "\nrequire 'broken'")
    says(run("side/uses.lua"), 4, "side/broken.lua:1: unexpected symbol near <eof>")
end)

t.test("the environment of the shell does not reach Lua", function()
    program.write("script.lua", "print(pcall(os.getenv, 'PATH'))\nprint(os.getenv 'AKO_X', os.getenv 'AKO4ALL_URL')")
    local r = shell("AKO_X=7 AKO4ALL_URL=/u LUA_INIT='print(666)' LUA_PATH=/tmp/?.lua $ako script.lua")
    t.eq(r.stdout, "false\tos.getenv: 'PATH' is not one of the variables a script may read\n7\t/u\n")
end)

-- Ends

t.test("the first Ctrl-C unwinds, with exit 130", function()
    program.write("script.lua", [[
        local guard <close> = setmetatable({}, { __close = function() print "closed" end })
        require("ako.process").run { "sh", "-c", "kill -INT $PPID" }
        while true do end
    ]])
    local r = run("script.lua")
    t.eq(r.stdout, "closed\n")
    says(r, 130, "interrupted")
end)

t.test("what is undisturbed comes to its end before a Ctrl-C is followed", function()
    local process = require "ako.process"
    local folder = t.tmpdir()
    assert(fs.mkdirs(folder .. "/stdlib/ako"))
    assert(fs.write(folder .. "/stdlib/ako/cli.lua", [[
        local console, host, process = require "ako.console", require "ako.host", require "ako.process"
        return function()
            local ok, problem = pcall(host.undisturbed, function()
                process.run { "sh", "-c", "kill -INT $PPID; sleep 0.1" }
                local n = 0
                for i = 1, 1000000 do n = n + i end
                local said = assert(process.run { "echo", "all done" }).stdout
                console.out(said)
                return 7
            end)
            console.out(tostring(problem) .. "\n")
            local again, why, code = process.run { "sleep", "10" }
            console.out(tostring(again) .. " " .. tostring(code) .. "\n")
            while true do end
        end
    ]]))
    local r = assert(process.run { program.path, env = { AKO_HOME = folder }, limit_ns = 60000000000 })
    t.eq(r.stdout, "all done\n7\nnil CANCELLED\n")
    t.eq(r.code, 130, r.stderr)
end)

-- Shell text that waits until the script has written a file.
local function wait_for(name) return ("until test -e %s; do sleep 0.02; done; "):format(name) end

t.test("the first Ctrl-C ends a wait in the core", function()
    program.write("script.lua", [[
        require("ako.fs").write("waiting", "")
        require("ako.clock").sleep_ns(100 * 10 ^ 9 | 0)
        while true do end
    ]])
    local r = shell("$ako script.lua & " .. wait_for "waiting" .. "kill -TERM $!; wait $!; echo $?")
    t.eq(r.stdout, "130\n")
    says(r, 0, "interrupted")
end)

t.test("the second kills at once", function()
    program.write("script.lua", [[
        local fs = require "ako.fs"
        fs.write("first", "")
        pcall(function() while true do end end)
        fs.write("second", "")
        while true do end
    ]])
    local r = shell("$ako script.lua & " .. wait_for "first" .. "kill -TERM $!; " .. wait_for "second"
        .. "kill -TERM $!; wait $!; echo $?")
    t.eq(r.stdout, "143\n")
end)

t.test("closed streams do no harm", function()
    program.write("script.lua", "local fs = require 'ako.fs' fs.write('here', 'content') print('lost')")
    t.eq(shell("$ako script.lua <&- >&- 2>&-; echo $?; cat here").stdout, "0\ncontent")
end)

t.test("a full disk is said, a reader that has gone away is not", function()
    local r = shell("$ako --help > /dev/full")
    says(r, 5, "cannot write: No space left on device")
    program.write("script.lua", "print(('x'):rep(100000)) print(('x'):rep(100000))")
    r = shell("$ako script.lua > /dev/full")
    says(r, 5, "cannot write all of the result (is the disk full?)")
    r = shell("{ $ako script.lua; echo $? >&2; } | head -c 1")
    t.eq(r.stderr, "0\n")
end)

t.test("an installed program finds its Lua files in ../share/ako-lua", function()
    local r = shell("mkdir -p usr/bin usr/share/ako-lua && cp $ako usr/bin/ako-lua"
        .. " && cp -r $AKO_HOME/stdlib $AKO_HOME/policies usr/share/ako-lua"
        .. " && cd / && AKO_HOME= $OLDPWD/usr/bin/ako-lua --list")
    t.match(r.stdout, "  kernelbench +KernelBench")
    t.eq(r.code, 0)
end)

t.test("without its Lua files the program says where it looked", function()
    local r = shell("cp $ako ./copy && AKO_HOME= ./copy --version")
    t.eq(r.code, 5)
    t.match(r.stderr, "^ako%-lua: no stdlib/ako/cli.lua in [^\n]*/%.%. or [^\n]*/share/ako%-lua; set AKO_HOME\n$")
end)

-- What people see: units, columns, the bar on a terminal and its absence elsewhere.
local format = require "ako.format"
local program = require "program"
local progress = require "ako.progress"
local t = require "ako.tap"

local function console(terminal, columns)
    local kept = { text = "" }
    function kept.err(text) kept.text = kept.text .. text end
    function kept.is_terminal() return terminal end
    function kept.columns() return columns end
    return kept
end

local function record(changes)
    local result = { trial = 3, candidate = "a.cu", status = "PASSED", verdict = "keep", reason = "2.1 % faster",
        speedup = { best = 1.021, original = 1.9, reference = 12.34 },
        time_ns = { median = 3928200, ci = { 3920000, 3936000 } } }
    for name, value in pairs(changes or {}) do result[name] = value end
    return result
end

t.test("durations in sensible units", function()
    t.eq(format.duration(812), "812 ns")
    t.eq(format.duration(1500), "1.500 us")
    t.eq(format.duration(41234567), "41.23 ms")
    t.eq(format.duration(123456789012), "123.5 s")
    t.eq(format.duration(nil), "-")
    t.eq(format.ratio(1.021), "1.021x")
    t.eq(format.ratio(12.34), "12.3x")
    t.eq({ format.ratio(0.00027), format.ratio(0.0098) }, { "0.00027x", "0.010x" })
    t.eq(format.ratio(nil), "-")
end)

t.test("nothing that comes from outside moves the cursor", function()
    t.eq(format.line "a\r\n  b\n\27[31mred\7 \xFF\t", "a b \\x1B[31mred\\x07 \\xFF\\x09")
    t.eq(format.line "a\u{9b}31m\u{202e}b\u{2066}\u{2028}c\u{e9}\u{2014}",
        "a\\u{9B}31m\\u{202E}b\\u{2066}\\u{2028}c\u{e9}\u{2014}")
    t.eq(format.text "a\r\n\tb\27[2J\n\0\xFF\u{9b}", "a\n\tb\\x1B[2J\n\\x00\\xFF\\u{9B}")
    local out = console(false)
    local p = progress.new { console = out }
    p:note "one\nline"
    p:trial(record { candidate = "a\nb.c", reason = "no\27[2J\nway" })
    t.eq(select(2, out.text:gsub("\n", "")), 2)
    t.ok(not out.text:find("\27", 1, true))
end)

t.test("a dumb terminal gets neither bar nor colours", function()
    local script = program.script([[
        local progress = require "ako.progress"
        local out = { is_terminal = function() return true end, columns = function() return 80 end, err = print }
        local p = progress.new { console = out }
        p:start(1, { candidate = "a.c" })
        p:note "done"
    ]])
    local function shown(term)
        return program.shell("TERM=" .. term .. " $ako script.lua").stdout
    end
    t.eq(script.code, 0)
    t.ok(shown("xterm"):find("\27", 1, true))
    t.ok(not shown("dumb"):find("\27", 1, true))
end)

t.test("text is cut and padded by characters and made UTF-8", function()
    t.eq(format.cut("caf\u{e9}s", 4), "caf~")
    t.eq(format.cut("caf\u{e9}", 4), "caf\u{e9}")
    t.eq(format.pad("\u{e9}", 3), "\u{e9}  ")
    t.eq(format.pad("ab", 3, true), " ab")
    t.eq(format.utf8("a\xFFb\u{e9}\xC3"), "a\\xFFb\u{e9}\\xC3")
    t.eq(format.utf8(""), "")
end)

t.test("one aligned line a trial, no codes and no bar away from a terminal", function()
    local out = console(false)
    local bar = progress.new { console = out }
    bar:start(3, { candidate = "a.cu" })
    bar:event { step = "check", done = 1, total = 5 }
    bar:trial(record())
    local heading, line = out.text:match("^(.-)\n(.-)\n$")
    t.match(line, "^  3  a.cu +PASSED +3.928 ms +%+%-0.2%% +1.021x +1.90x +12.3x  keep +2.1 %% faster$")
    t.eq(heading:find("verdict", 1, true), line:find("keep", 1, true))
    bar:verified(record()) -- what is verified is the best
    t.match(out.text, "\n  =  a.cu +PASSED +3.928 ms +%+%-0.2%% +%- +1.90x +12.3x  verified +trial 3, restored\n$")
    t.ok(not out.text:find("\27", 1, true))
end)

t.test("on a terminal: a bar that goes away, colours, rows that fit", function()
    local out = console(true, 125)
    local bar = progress.new { console = out }
    bar:start(3, { candidate = "a.cu" })
    t.match(out.text, "\r\27%[K3 a.cu  build %[%.+%] 0/1")
    bar:trial(record { reason = ("long "):rep(30) })
    t.match(out.text, "\r\27%[K  3  a.cu")
    t.match(out.text, "\27%[32mkeep\27%[0m")
    t.match(out.text, "~\n$")
    bar:close()
end)

t.test("quiet says nothing", function()
    local out = console(true, 80)
    local bar = progress.new { console = out, quiet = true }
    bar:start(1, {})
    bar:event { step = "check", done = 1, total = 2 }
    bar:trial(record())
    bar:verified(record())
    bar:note "text"
    t.eq(out.text, "")
end)

t.test("who holds the device is said once a trial, on a terminal and elsewhere", function()
    for _, terminal in ipairs { true, false } do
        local out = console(terminal, 120)
        local p = progress.new { console = out, color = "never" }
        local function waits(pid)
            p:event { step = "wait", text = ("CPU-1 is held by pid %d (ako-worker) since 12:00:00"):format(pid) }
        end
        p:start(1, { candidate = "a.c" })
        waits(7)
        waits(7)
        waits(8)
        t.eq(select(2, out.text:gsub("wait: CPU%-1 is held by pid 7 %(ako%-worker%) since 12:00:00\n", "")), 1)
        t.eq(select(2, out.text:gsub("held by pid 8", "")), 1)
        p:start(2, { candidate = "b.c" })
        waits(8)
        t.eq(select(2, out.text:gsub("held by pid 8", "")), 2)
    end
end)

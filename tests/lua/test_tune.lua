-- The tune space of a source: its points, the same source at each, and a run over it.
local fs = require "ako.fs"
local git = require "ako.git"
local launch = require "ako.launch"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"
local tune = require "ako.tune"
local unit = require "ako.unit"
local verbs = require "ako.verbs"

local SOURCE = "//! launch f<<<(1), (BLOCK)>>>(x)\n//! tune BLOCK = 128, 256,512\r\n  //!tune VEC =1,  2 \n"
    .. "// tune BLOCK = 1, 2\nvoid f();\n"

local function names(list)
    local found = {}
    for i, candidate in ipairs(list) do found[i] = candidate.name end
    return found
end

t.test("all points but the one that is there, in order", function()
    local list, total = tune.candidates(SOURCE, "k.cu", 100, 1)
    t.eq(total, 6)
    t.eq(names(list), { "BLOCK=128,VEC=2", "BLOCK=256,VEC=1", "BLOCK=256,VEC=2", "BLOCK=512,VEC=1",
        "BLOCK=512,VEC=2" })
    t.eq(list[4].point, { BLOCK = "512", VEC = "1" })
end)

t.test("a point's source says so itself, and nothing else in it changes", function()
    local list = tune.candidates(SOURCE, "k.cu", 100, 1)
    t.eq(list[5].text, "//! launch f<<<(1), (BLOCK)>>>(x)\n//! tune BLOCK = 512, 128, 256\r\n  //!tune VEC =2, 1 \n"
        .. "// tune BLOCK = 1, 2\nvoid f();\n")
    for _, candidate in ipairs(list) do
        t.eq(launch.first_point(launch.parse(candidate.text, "k.cu")), candidate.point)
    end
    t.eq(tune.rewrite(SOURCE, { BLOCK = "128", VEC = "1" }), (SOURCE:gsub("256,512", "256, 512"):gsub("1,  2", "1, 2")))
    local again = tune.candidates(list[5].text, "k.cu", 100, 1)
    t.eq(#again, 5)
    t.eq(names(again)[1], "BLOCK=512,VEC=1")
end)

t.test("what is defined for a point is what its source has first", function()
    local list = tune.candidates("//! tune N = 1, 2\n//! tune T = float, half\nvoid f(void);\n", "k.c", 9, 1)
    local task = { axes = {}, scalars = {}, tensor = {}, workloads = { { id = "w", axes = {} } } }
    local given = assert(unit.make(task, { entry = "f", args = {} }, { { name = "k.c", text = list[3].text } }))
    t.eq({ table.unpack(given.defines) }, { "N", "2", "T", "half" })
end)

t.test("of a larger space the seed draws so many, each once", function()
    local lines = {}
    for i = 1, 4 do lines[i] = ("//! tune P%d = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9\n"):format(i) end
    local text = table.concat(lines)
    local list, total = tune.candidates(text, "k.c", 64, 42)
    t.eq({ #list, total }, { 64, 10000 })
    local seen = {}
    for _, candidate in ipairs(list) do
        t.ok(not seen[candidate.name] and candidate.name ~= "P1=0,P2=0,P3=0,P4=0", candidate.name)
        seen[candidate.name] = true
    end
    t.eq(names(tune.candidates(text, "k.c", 64, 42)), names(list))
    t.ok(names(tune.candidates(text, "k.c", 64, 43))[1] ~= names(list)[1])
    t.eq(#tune.candidates(text, "k.c", 9998, 42), 9998)
    t.eq(#tune.candidates(text, "k.c", 9999, 42), 9999)
    local wide = {}
    for i = 1, 60 do wide[i] = ("//! tune P%d = 0, 1, 2\n"):format(i) end
    local _, problem = tune.candidates(table.concat(wide), "k.c", 64, 42)
    t.match(problem, "^k.c:%d+: tune: the tune lines span more points than can be counted$")
end)

t.test("values twice, no lines, lines that are wrong", function()
    t.eq(names(tune.candidates("//! tune A = 1, 2, 1\n", "k.c", 9, 1)), { "A=2" })
    local list, total = tune.candidates("void f();\n", "k.c", 9, 1)
    t.eq({ #list, total }, { 0, 0 })
    t.eq(#tune.candidates("//! tune A = 1\n", "k.c", 9, 1), 0)
    local none, problem = tune.candidates("//! tune A = 1,,2\n", "k.c", 9, 1)
    t.eq(none, nil)
    t.match(problem, "^k.c:1: tune: an empty value")
end)

-- A whole run

local KERNEL = "//! tune BLOCK = 1, 2, 3\n//! tune VEC = a, b\n// script: time=100\n// with BLOCK=2: time=50\n"
    .. "// with BLOCK=3: time=200\n// with VEC=b: slow=1\nvoid scale(void);\n"

local function tuned_folder(text)
    local folder = scripted.task_folder "time=100"
    assert(fs.write(folder .. "/solution/kernel.c", text or KERNEL))
    return folder
end

local function policy_with(screen)
    local timing = scripted.policy().timing
    timing.screen = screen
    return { timing = timing }
end

local SCREEN = { rounds = { 2, 4 }, hopeless = 3, finalists = 2, least = 4, points = 16 }

t.test("run tries the points; the kept source has the chosen value first, the record its point", function()
    local folder = tuned_folder()
    local ctx, requests = scripted.context(folder, { policy = policy_with(SCREEN) })
    t.eq(verbs.run(ctx), 0)
    t.match(ctx.console.stderr, "candidates  5 other points of the tune lines\n")
    t.eq(requests[2].steps, "screen")
    t.eq(#requests[2].scripts, 5)
    local state = session.newest { repo = assert(git.open(folder)), folder = fs.absolute(folder) }
    t.eq(#state.history, 6)
    t.eq(state.best.candidate, "BLOCK=2,VEC=a")
    t.eq(state.best.point, { BLOCK = "2", VEC = "a" })
    t.eq(state.best.verdict, "keep")
    local kept = KERNEL:gsub("1, 2, 3", "2, 1, 3")
    t.eq(fs.read(folder .. "/solution/kernel.c"), kept)
    t.eq(state.finished.status, "PASSED")
end)

t.test("fewer points than a screening is worth are tried one by one; without numbers there is no space", function()
    local few = { rounds = { 2 }, finalists = 2, least = 6, points = 16 }
    local ctx, requests = scripted.context(tuned_folder(), { policy = policy_with(few) })
    t.eq(verbs.run(ctx), 0)
    for _, request in ipairs(requests) do t.ok(request.steps ~= "screen") end
    t.match(ctx.console.stdout, "best: trial 2 %(BLOCK=2,VEC=a%): PASSED")
    ctx, requests = scripted.context(tuned_folder())
    t.eq(verbs.run(ctx), 0)
    t.eq(#requests, 1)
end)

t.test("a folder of candidates goes before the tune lines", function()
    local folder = tuned_folder()
    scripted.candidates(folder, { ["a.c"] = "time=90" })
    local ctx = scripted.context(folder, { policy = policy_with(SCREEN) }, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    t.match(ctx.console.stdout, "best: trial 1 %(a.c%): PASSED")
end)

t.test("what is drawn is said", function()
    local ctx = scripted.context(tuned_folder(), { seed = 7, policy = policy_with { rounds = { 2 }, finalists = "sqrt",
        least = 3, points = 3 } })
    t.eq(verbs.run(ctx), 0)
    t.match(ctx.console.stderr, "candidates  5 other points of the tune lines, 3 of them drawn with seed 7\n")
    ctx = scripted.context(tuned_folder(), { policy = policy_with(SCREEN) })
    t.eq(verbs.plan(ctx), 0)
    t.match(ctx.console.stdout, "candidates  5 other points of the tune lines\n")
end)

-- An evaluator process from Lua: requests, progress, errors inside progress, closing.
local t = require "ako.tap"
local fs = require "ako.fs"
local worker = require "ako.worker"

local function hello(w)
    return w:request { op = "hello", protocol = 1, device = "cpu" }
end

local function unit(source)
    return {
        lane = "c",
        sources = { { name = "twice.c", text = source } },
        workloads = {
            { calls = { { symbol = "twice", args = { { tensor = "x" }, { tensor = "y" }, { i32 = 100 } } } } },
        },
    }
end

local good = "void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }"

local function task()
    return {
        name = "twice",
        tensors = { { name = "x", dtype = "f32", role = "input" }, { name = "y", dtype = "f32", role = "output" } },
        workloads = { { id = "n=100", shapes = { x = { 100 }, y = { 100 } } } },
        tolerance = { predicate = "allclose_ref", atol = 1e-6, rtol = 1e-6 },
        reference = unit(good),
    }
end

local function trial(source)
    return { op = "trial", unit = unit(source or good), steps = { "build", "check" }, check = { seeds = { 1, 2, 3 } } }
end

t.test("hello names the device", function()
    local w <close> = assert(worker.start())
    local answer = assert(hello(w))
    t.eq(answer.device.id, "cpu")
    t.eq(answer.device.place, "cpu")
    t.ok(#answer.versions > 0)
    t.match(tostring(w), "ako.worker %(open%)")
end)

t.test("a trial, with progress", function()
    local w <close> = assert(worker.start())
    assert(hello(w))
    assert(w:request { op = "task", task = task() })
    local seen = {}
    local answer = assert(w:request(trial(), function(event)
        if event.step == "wait" then return end -- somebody else has the CPU at the moment
        seen[#seen + 1] = event.step .. event.done .. "/" .. event.total
    end))
    t.eq(answer.status, "PASSED", answer.reason)
    t.eq(table.concat(seen, " "), "check1/3 check2/3 check3/3")
    answer = assert(w:request(trial((good:gsub("2 %*", "3 *")))))
    t.eq(answer.status, "INCORRECT_NUMERICAL")
    t.eq(answer.workloads[1].first[1].index, 0)
end)

t.test("launches that take long end early, but for so many", function()
    local w <close> = assert(worker.start())
    assert(hello(w))
    assert(w:request { op = "task", task = task() })
    local function counts(long)
        local wanted = trial()
        wanted.steps = { "build", "check", "time" }
        wanted.time = { warmup = 1, launches = 90, flush = false, timer = "wall", long = long, long_launches = 4 }
        local answer = assert(w:request(wanted))
        t.eq(answer.status, "PASSED", answer.reason)
        return answer.workloads[1].time.n, answer.workloads[1].reference and answer.workloads[1].reference.n
    end
    local mine, reference = counts(1)
    t.ok(mine >= 4 and mine < 90, mine) -- a clock that is doubted takes a few more
    t.eq(reference, nil)
    t.ok(counts(3600 * 1000000000) >= 90)
    t.ok(counts(nil) >= 90)
end)

t.test("an error in progress cancels and is raised, and the worker stays usable", function()
    local w <close> = assert(worker.start())
    assert(hello(w))
    assert(w:request { op = "task", task = task() })
    t.err("not now", w.request, w, trial(), function() error("not now", 0) end)
    local ok, value = pcall(w.request, w, trial(), function() error({ 42 }) end)
    t.ok(not ok)
    t.eq(value[1], 42)
    local answer, _, code = w:request(trial(), function() return true end)
    t.eq(answer, nil)
    t.eq(code, "CANCELLED")
    t.eq(assert(w:request(trial())).status, "PASSED")
end)

t.test("progress cannot use the worker that it hears of", function()
    local w <close> = assert(worker.start())
    assert(hello(w))
    assert(w:request { op = "task", task = task() })
    t.err("a request is running", w.request, w, trial(), function() w:close() end)
    t.err("a request is running", w.request, w, trial(), function() hello(w) end)
end)

t.test("refusals come back as nil, message, code", function()
    local w <close> = assert(worker.start())
    t.fails("hello must come first", w:request { op = "task", task = task() })
    local nothing, _, code = w:request { op = "trial" }
    t.eq(nothing, nil)
    t.eq(code, "INVALID")
    t.fails("cuda", w:request { op = "hello", protocol = 1, device = "cuda:77" })
    t.err("function", w.request, w, { op = print })
end)

t.test("inputs from an uploaded file", function()
    local folder = t.tmpdir()
    local path = fs.join(folder, "x.raw")
    assert(fs.write(path, ("<f"):pack(1.5):rep(100)))
    local w <close> = assert(worker.start())
    assert(hello(w))
    local key = assert(w:upload(path))
    t.match(key, "^%x+$")
    local from_file = task()
    from_file.tensors[1].init = { file = key, format = "raw" }
    assert(w:request { op = "task", task = from_file })
    local constant = good:gsub("2 %* x%[i%]", "3.0f")
    t.eq(assert(w:request(trial(constant))).status, "PASSED")
    from_file.workloads[1].shapes = { x = { 99 }, y = { 100 } }
    assert(w:request { op = "task", task = from_file })
    local answer = assert(w:request(trial()))
    t.eq(answer.status, "INVALID_REFERENCE")
    t.match(answer.reason, "the file of 'x'")
    t.fails("No such file", w:upload(fs.join(folder, "nothing.raw")))
end)

t.test("closing twice is fine, using a closed one is not", function()
    local w = assert(worker.start())
    w:close()
    w:close()
    t.match(tostring(w), "closed")
    t.err("the worker is closed", hello, w)
    t.fails("nowhere", worker.start("/nowhere/ako-worker"))
end)

-- The gates of policies, each asked with literals.
local fs = require "ako.fs"
local gates = require "ako.gates"
local git = require "ako.git"
local t = require "ako.tap"

local function note(topic, about, more)
    local line = { kind = "note", topic = topic, trial = about, text = "because" }
    for name, value in pairs(more or {}) do line[name] = value end
    return line
end

-- A run whose trials have these speed-ups over the best of then; false: reverted, "unstable": not measured.
local function run_of(speedups, notes)
    local history = { { trial = 0, status = "PASSED", verdict = "keep", speedup = {} } }
    for i, speedup in ipairs(speedups) do
        local measured = speedup ~= "unstable"
        history[i + 1] = { trial = i, status = measured and "PASSED" or "UNSTABLE",
            verdict = not measured and "inconclusive" or speedup and "keep" or "revert",
            speedup = { best = measured and (speedup or 0.9) or nil } }
    end
    local best = history[1]
    for _, record in ipairs(history) do if record.verdict == "keep" then best = record end end
    return { history = history, best = best, notes = notes or {}, next_trial = #history }
end

t.test("all: the first reason counts; from: not before its trial", function()
    local function says(text) return function() return text end end
    local function nothing() end
    t.eq(gates.all()(run_of {}), nil)
    t.eq(gates.all(nothing, says "one", says "two")(run_of {}), "one")
    local function gives(facts) return function() return nil, facts end end
    t.eq({ gates.all(nothing, nothing)(run_of {}) }, {})
    t.eq(select(2, gates.all(gives { lane = "cuda" }, nothing, gives { plan = 2 })(run_of {})),
        { lane = "cuda", plan = 2 })
    t.eq({ gates.all(gives { lane = "cuda" }, says "one")(run_of {}) }, { "one" })
    t.eq(gates.from(1, says "one")({ next_trial = 0 }), nil)
    t.eq(gates.from(1, says "one")({ next_trial = 1 }), "one")
    t.eq(gates.from("first", says "one")({ next_trial = 1 }, nil, { first = 2 }), nil)
end)

t.test("notes: each topic, one of alternatives, never a blank one", function()
    local gate = gates.notes { topics = { "profile", { "direction", "lane" } }, text = "before edits" }
    t.eq(gate(run_of({}, {})),
        "before edits: wanted profile (note --topic=profile -m TEXT), "
        .. "direction or lane (note --topic=direction -m TEXT)")
    t.eq(gate(run_of({}, { note "profile" })),
        "before edits: wanted direction or lane (note --topic=direction -m TEXT)")
    t.eq(gate(run_of({}, { note "profile", note "lane" })), nil)
    t.match(gate(run_of({}, { note("profile", nil, { text = " \n" }), note "lane" })), "wanted profile ")
end)

t.test("notes about the best alone, about the last trial", function()
    local best = gates.notes { topics = { "build" }, about = "best" }
    t.eq(best(run_of({ 1.1, false }, { note("build", 0), note("build", 2) })),
        "notes are missing: wanted build (note 1 --topic=build -m TEXT)")
    t.eq(best(run_of({ 1.1, false }, { note("build", 1) })), nil)
    local last = gates.notes { topics = { "search" }, about = "last" }
    t.match(last(run_of({ 1.1, false }, { note("search", 1) })), "wanted search")
    t.eq(last(run_of({ 1.1, false }, { note("search", 2), note("else", 0) })), nil)
end)

t.test("evidence is a file, or why there is none", function()
    local gate = gates.notes { topics = { "profile" }, evidence = { "profile" } }
    local function ask(more) return gate(run_of({}, { note("profile", 0, more) })) end
    t.match(ask { text = "it is memory bound" },
        "^notes are missing: wanted profile %(note %-%-topic=profile %-%-file=FILE, or %-m 'unavailable: why'%)$")
    t.match(ask { text = "unavailable" }, "wanted profile")
    t.match(ask { text = "unavailable: " }, "wanted profile")
    t.eq(ask { text = "Unavailable (ERR_NVGPUCTRPERM)" }, nil)
    t.eq(ask { file = "ncu.txt", text = "" }, nil)
end)

t.test("a stall: so many in a row without enough gain", function()
    local function at(speedups, share) return gates.stall(run_of(speedups), 3, share or 0) end
    t.eq(at {}, nil)
    t.eq(at { false, false }, nil)
    t.eq(at { false, false, false }, 3)
    t.eq(at { false, false, false, false }, 3)
    t.eq(at { false, 1.02, false, false }, nil)
    t.eq(at({ false, 1.02, false, false }, 0.03), 3)
    t.eq(at { false, false, false, 1.1 }, nil)
    t.eq(at { false, "unstable", false, "unstable" }, nil)
    t.eq(at { false, "unstable", false, false }, 4)
end)

t.test("an override counts, not what it overrode", function()
    local run = run_of { false, 1.2, false }
    run.history[3].override = "revert"
    t.eq(gates.stall(run, 3, 0), 3)
    run = run_of { 1.01, false, false }
    run.history[2].override = "keep"
    t.eq(gates.stall(run, 3, 0), nil)
end)

t.test("stalled: notes newer than the stall end it, and counting begins anew", function()
    local gate = gates.stalled { count = 3, share = "share", needs = { "profile", { "direction", "lane" } },
        evidence = { "profile" } }
    local opt = { share = 0.03 }
    local function ask(speedups, notes) return gate(run_of(speedups, notes), nil, opt) end
    local early = { note("profile", 2, { file = "p" }), note("direction", 2) }
    local late = { note("profile", 3, { file = "p" }), note("lane", 3) }
    t.eq(ask({ false, false }, {}), nil)
    t.eq(ask({ false, 1.02, false }, early), "3 trials up to trial 3 without a gain of more than 3 %: wanted before "
        .. "the next one: profile (note --topic=profile --file=FILE, or -m 'unavailable: why'), direction or lane "
        .. "(note --topic=direction -m TEXT)")
    t.match(ask({ false, false, false }, { late[1] }), "next one: direction or lane")
    t.eq(ask({ false, false, false }, late), nil)
    t.eq(ask({ false, false, false, false, false }, late), nil)
    t.match(ask({ false, false, false, false, false, false }, late), "up to trial 6 ")
    t.eq(ask({ false, false, false, 1.5, false, false }, {}), nil)
end)

t.test("fields: headings, lists, bold names; hints are not content", function()
    local text = "# Contract\n- **Shape**: B, D\n- **dtype:** bf16\nLayout: <row or column>\n- Alignment: TODO\n"
        .. "* Path:\n  latency,\n  always\n- Empty:\n\n## Open questions\nnone: really\n## Last\n<!-- say\n it -->\n"
    local contract = text:match("# Contract\n(.-)\n\n## Open")
    t.eq(gates.fields(text), { contract = contract, shape = "B, D", dtype = "bf16", path = "latency,\n  always",
        ["open questions"] = "none: really", none = "really" })
end)

t.test("file: must exist and be filled in", function()
    local folder = t.tmpdir()
    local gate = gates.file { path = "plan/{kernel}_{task}_{n}_v{v}.md", fields = { "Bottleneck", "Fallback" },
        text = "the plan" }
    local run = { workspace = folder, next_trial = 3, task = { name = "gemm", solution = { "solution/mm.v2.cu" } } }
    t.eq(gate(run), "the plan: plan/mm.v2_gemm_3_v4.md is missing; write it with the fields Bottleneck, Fallback")
    assert(fs.mkdirs(folder .. "/plan"))
    local path = folder .. "/plan/mm.v2_gemm_3_v4.md"
    assert(fs.write(path, "# Plan\nBottleneck: memory\nFallback: <what else>\n"))
    t.eq(gate(run), "the plan: plan/mm.v2_gemm_3_v4.md lacks Fallback; fill in 'Name: value' for each")
    assert(fs.write(path, "# Plan\nBottleneck: memory\n## Fallback\nsmaller tiles\n"))
    t.eq(gate(run), nil)
end)

t.test("hypothesis and prediction, from the first edit on", function()
    local first, later = { next_trial = 0 }, { next_trial = 1 }
    local gate, sources = gates.hypothesis(), { { name = "a.cu", text = "" } }
    t.eq(gate(first, { sources = sources }), nil)
    t.eq(gate(later, {}), nil)
    t.match(gate(later, { sources = sources }), "^no hypothesis")
    t.match(gate(later, { sources = sources, hypothesis = " ", candidate = "a.cu" }), "^no hypothesis")
    t.eq(gate(later, { sources = sources, hypothesis = "wider loads" }), nil)
    t.eq(gates.hypothesis { candidates = true }(later, { sources = sources, candidate = "a.cu" }), nil)
    t.match(gates.hypothesis { candidates = true }(later, { sources = sources, candidate = "proposal 7" }), "^no hyp")
    t.eq(gates.prediction()(first, { sources = sources }), nil)
    t.eq(gates.prediction()(later, { sources = {} }), nil)
    t.match(gates.prediction()(later, { sources = sources }), "^no prediction")
    t.eq(gates.prediction()(later, { sources = sources, predict = 3.0 }), nil)
end)

t.test("one change: places that differ from the best, unless it is a rewrite with a name", function()
    local folder = t.tmpdir()
    local repo = assert(git.init(folder))
    local lines = {}
    for i = 1, 60 do lines[i] = "line " .. i end
    local function write() assert(fs.write(folder .. "/k.c", table.concat(lines, "\n") .. "\n")) end
    write()
    local commit = assert(repo:commit { tree = assert(repo:tree(nil, { "k.c" })), message = "baseline\n" })
    local gate = gates.one_change { hunks = "places" }
    local run = { workspace = folder, next_trial = 1, best = { trial = 0, commit = commit } }
    local proposal, opt = { changed = { "k.c" }, hypothesis = "faster" }, { places = 2 }
    t.eq(gate({ next_trial = 0 }, { changed = {} }, opt), nil)
    for i = 10, 30, 20 do lines[i] = "changed" end
    write()
    t.eq(gate(run, proposal, opt), nil)
    lines[50] = "changed"
    write()
    t.eq(gate(run, proposal, opt), "3 places differ from the best, at most 2 in one trial: try one idea at a time, or "
        .. "begin the hypothesis with 'rewrite: ' and its name")
    t.eq(gate(run, { changed = { "k.c" }, hypothesis = "Rewrite: split-K" }, opt), nil)
    t.match(gate(run, { changed = { "k.c" }, hypothesis = "rewrite:" }, opt), "^3 places")
    run.best.commit = ("0"):rep(40)
    t.match(gate(run, proposal, opt), "^the change cannot be compared with the best: ")
end)

-- policies/ako4all_gated.lua, criterion by criterion (docs/ako4all_gated.md has the table).
local checkout = require "policies.ako4all_gated.checkout"
local contract = require "policies.ako4all_gated.contract"
local fs = require "ako.fs"
local git = require "ako.git"
local lanes = require "policies.ako4all_gated.lanes"
local policy = require "ako.policy"
local process = require "ako.process"
local references = require "policies.ako4all_gated.references"
local scripted = require "scripted"
local session = require "ako.session"
local shapes = require "policies.ako4all_gated.shapes"
local t = require "ako.tap"
local validation = require "policies.ako4all_gated.validation"
local verbs = require "ako.verbs"

local POLICY = policy.adopt(require "policies.ako4all_gated", "policies/ako4all_gated.lua")

-- git with an author and without the user's configuration.
local ENVIRONMENT = { GIT_CONFIG_GLOBAL = "/dev/null", GIT_CONFIG_NOSYSTEM = "1", GIT_AUTHOR_NAME = "A",
    GIT_AUTHOR_EMAIL = "a@b", GIT_COMMITTER_NAME = "A", GIT_COMMITTER_EMAIL = "a@b" }

local function run_git(...)
    local result = assert(process.run { "git", env = ENVIRONMENT, ... })
    assert(result.ok, result.stderr)
    return (result.stdout:gsub("%s+$", ""))
end

local function write(path, text)
    assert(fs.mkdirs(fs.dirname(path)))
    assert(fs.write(path, text))
end

local function commit(folder, name, text)
    write(fs.join(folder, name), text)
    run_git("-C", folder, "add", "-A")
    run_git("-C", folder, "commit", "-qm", name)
    return run_git("-C", folder, "rev-parse", "HEAD")
end

-- B1. An upstream with one commit, and a target repository with a workspace in it, side by side.
local function layout()
    local base = assert(fs.absolute(t.tmpdir()))
    local upstream = fs.join(base, "upstream")
    run_git("init", "-q", "-b", "trunk", upstream)
    commit(upstream, "bench.py", "one\n")
    local target = fs.join(base, "engine")
    run_git("init", "-q", target)
    local settings = { folder = fs.join(base, "AKO4ALL"), upstream = upstream, url = upstream, seconds = 60 }
    return { base = base, upstream = upstream, target = target, settings = settings,
        ensure = function(workspace) return checkout.ensure(settings, workspace or target) end,
        look = function(workspace) return checkout.look(settings, workspace or target) end }
end

t.test("B1: a missing checkout is cloned, at the upstream's own branch, and nothing beside it is touched", function()
    local at = layout()
    t.eq(at.look(), "harness checkout " .. at.settings.folder .. ": it is missing; --checkout=false works without it")
    t.eq(at.ensure(), nil)
    t.eq(fs.read(at.settings.folder .. "/bench.py"), "one\n")
    t.eq(git.open(at.settings.folder):branch(), "trunk")
    t.eq(at.look(), nil)
    t.eq(at.ensure(), nil)
    t.eq(fs.list(at.base), { "AKO4ALL", "engine", "upstream" })
    t.eq(run_git("-C", at.settings.folder, "remote"), "origin")
    t.match(checkout.describe(at.settings), "/AKO4ALL, branch trunk, commit %x+$")
end)

t.test("B1: one that is only behind is brought up; a look without network does not notice", function()
    local at = layout()
    t.eq(at.ensure(), nil)
    local newer = commit(at.upstream, "bench.py", "two\n")
    t.eq(at.look(), nil)
    t.eq(at.ensure(), nil)
    t.eq(git.open(at.settings.folder):head().oid, newer)
    t.eq(fs.read(at.settings.folder .. "/bench.py"), "two\n")
end)

t.test("B1: changed, untracked and staged files are refused by name, and left alone", function()
    local at = layout()
    t.eq(at.ensure(), nil)
    local folder = at.settings.folder
    write(folder .. "/bench.py", "mine\n")
    write(folder .. "/new/a.txt", "a\n")
    for _, ask in ipairs { at.ensure, at.look } do
        t.match(ask(), ": it has changes: .*M bench.py, %?%? new/a.txt; commit them elsewhere, clean it or clone it "
            .. "again$")
    end
    for i = 1, 4 do write(("%s/new/%d.txt"):format(folder, i), "x\n") end
    t.match(at.ensure(), " and 3 more; commit")
    t.eq(fs.read(folder .. "/bench.py"), "mine\n")
    fs.remove_tree(folder .. "/new")
    run_git("-C", folder, "add", "-A")
    t.match(at.ensure(), "it has changes: M. bench.py;")
end)

t.test("B1: commits of its own and other branches are refused", function()
    local at = layout()
    t.eq(at.ensure(), nil)
    local folder = at.settings.folder
    local first = run_git("-C", folder, "rev-parse", "HEAD")
    local mine = commit(folder, "mine.txt", "x\n")
    t.match(at.ensure(), ": it has 1 commits of its own and lacks 0 of ")
    t.match(at.look(), "it has moved away from the upstream")
    commit(at.upstream, "bench.py", "two\n")
    t.match(at.ensure(), ": it has 1 commits of its own and lacks 1 of ")
    t.eq(git.open(folder):head().oid, mine)
    run_git("-C", folder, "reset", "-q", "--hard", first)
    run_git("-C", folder, "switch", "-q", "-c", "other")
    t.match(at.ensure(), "it is 1 commits behind and not on branch trunk; git %-C .*/AKO4ALL switch trunk$")
    run_git("-C", folder, "switch", "-q", "--detach", "trunk")
    t.match(at.ensure(), "not on branch trunk")
    run_git("-C", folder, "switch", "-q", "trunk")
    t.eq(at.ensure(), nil)
end)

t.test("B1: a network that is not there is one line, and leaves nothing half-made", function()
    local at = layout()
    at.settings.url = at.base .. "/nowhere"
    t.match(at.ensure(), "^harness checkout .*/AKO4ALL: it is missing and .*/nowhere cannot be cloned: [^\n]+$")
    t.ok(not fs.exists(at.settings.folder))
    at.settings.url = at.upstream
    t.eq(at.ensure(), nil)
    at.settings.upstream = at.base .. "/nowhere"
    t.match(at.ensure(), ": its upstream .*/nowhere cannot be read: [^\n]+$")
    at.settings.upstream, at.settings.branch = at.upstream, "absent"
    t.match(at.ensure(), "cannot be read: couldn't find remote ref refs/heads/absent$")
    fs.remove_tree(at.settings.folder)
    t.match(at.ensure(), "cannot be cloned: [^\n]*absent[^\n]*$")
    write(at.settings.folder .. "/file", "x")
    t.match(at.ensure(), "it is no git repository of its own; move it away")
end)

t.test("B1, K-B1: tasks inside the checkout do not trip it, neither their own nor another's", function()
    local at = layout()
    t.eq(at.ensure(), nil)
    local folder = at.settings.folder
    local first, second = folder .. "/rmsnorm", folder .. "/softmax"
    write(first .. "/solution/kernel.cu", "k\n")
    write(first .. "/ITERATIONS.md", "log\n")
    t.eq(at.ensure(first), nil)
    t.match(at.ensure(second), "it has changes: %?%? rmsnorm/ITERATIONS.md")
    write(folder .. "/.git/ako/one/journal.jsonl", '{"kind":"session","workspace":"' .. first .. '"}\n{"kind":"x"}\n')
    write(folder .. "/.git/ako/broken/journal.jsonl", '{"kind":"ses')
    write(second .. "/ITERATIONS.md", "log\n")
    t.eq(at.ensure(second), nil)
    t.eq(at.look(second), nil)
    write(folder .. "/softmax.txt", "x\n")
    t.match(at.ensure(second), "it has changes: %?%? softmax.txt;")
    fs.remove_tree(folder .. "/softmax.txt")
    write(folder .. "/solution/kernel.cu", "k\n")
    t.match(at.ensure(second), "solution/kernel.cu")
    fs.remove_tree(second)
    t.eq(at.ensure(folder), nil)
end)

t.test("B1: where the checkout is and comes from: options, variables, layout", function()
    local at = layout()
    local none = { base_dir = "", upstream_url = "", clone_url = "", branch = "", network_seconds = 5.0 }
    local settings = checkout.settings(at.target, none)
    t.eq(settings.folder, at.base .. "/AKO4ALL")
    t.match(settings.upstream, "^https://github.com/TongmingLAIC/AKO4ALL")
    t.eq({ settings.url, settings.branch, settings.seconds }, { settings.upstream, nil, 5.0 })
    t.eq(at.ensure(), nil)
    t.eq(checkout.settings(at.settings.folder, none).folder, at.settings.folder)
    write(at.settings.folder .. "/task/x", "")
    t.eq(checkout.settings(at.settings.folder .. "/task", none).folder, at.settings.folder)
    local given = { base_dir = "/b", upstream_url = "/u", clone_url = "/c", branch = "dev", network_seconds = 5.0 }
    t.eq(checkout.settings(at.target, given),
        { folder = "/b/AKO4ALL", upstream = "/u", url = "/c", branch = "dev", seconds = 5.0 })
end)

-- The policy, driven through scripted histories

local TASK = [[
return {
  name = "scale",
  tensors = { x = { "f32", { "N" } }, y = { "f32", { "N" }, role = "output" } },
  workloads = { { N = 64 }, { N = 7, weight = 0.2 } },
  reference = { "reference.c", entry = "scale", args = { "x", "y", "N" } },
  solution = { "solution/kernel.c" },
}
]]

local CONTRACT = { Kernel = "scale() in solution/kernel.c", Shape = "N", Dtype = "f32", Layout = "dense",
    Alignment = "16 bytes", Architecture = "sm_90, sm_100", ["Latency or throughput"] = "latency",
    Baseline = "the engine's own, 100 us", ["Tail shapes"] = "N=7", ["Dtype variants"] = "none, f32 alone is called",
    ["Launch gaps"] = "no, one launch", ["Model path"] = "none" }

local function contract_text(changes)
    local lines, names = { "# Contract" }, {}
    for name in pairs(CONTRACT) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
        local value = (changes or {})[name] or CONTRACT[name]
        lines[#lines + 1] = ("- **%s**: %s"):format(name, value)
    end
    return table.concat(lines, "\n") .. "\n"
end

local Place = {}
Place.__index = Place

local function context(place, verb_options, host)
    local given = { policy = POLICY }
    for name, value in pairs(host or {}) do given[name] = value end
    local ctx, requests = scripted.context(place.folder, given, verb_options)
    ctx.opt = policy.option_values(POLICY, place.options)
    return ctx, requests
end

function Place:path(name) return fs.join(self.folder, name) end
function Place:read(name) return fs.read(self:path(name)) end

-- One trial of an edit: exit code, stdout, requests.
function Place:try(script, message, more)
    if script then write(self:path "solution/kernel.c", scripted.source(script) .. (more or "")) end
    local ctx, requests = context(self, { message = message })
    local code = verbs.try(ctx)
    return code, ctx.console.stdout .. (code == 4 and ctx.console.stderr or ""), requests
end

function Place:note(topic, text, given)
    local more = given or {}
    local ctx = context(self, { topic = topic, message = text, file = more.file })
    ctx.operands = { more.about }
    t.eq(verbs.note(ctx), 0, ctx.console.stderr)
end

function Place:state()
    local repo = assert(git.open(self.folder))
    return session.newest { repo = repo, folder = fs.absolute(self.folder) }, repo
end

function Place:last()
    local state = self:state()
    return state.history[#state.history]
end

-- What is said against the end of the session, nil when it is finished.
function Place:finish(message)
    local ctx = context(self, { message = message })
    local code = verbs.finish(ctx)
    if code == 0 then return nil end
    t.eq(code, 13, ctx.console.stderr)
    return ctx.console.stdout:match("^session %S+ is not finished: (.*)\n$")
end

function Place:subjects()
    local state, repo = self:state()
    local list = {}
    for i, made in ipairs(repo:log(state.branch.ref)) do list[i] = made.message:match("^[^\n]*") end
    return list
end

-- A workspace with a task of a hot shape and a tail, and a filled-in contract with these changes.
local function workspace(changes, options)
    local folder = scripted.task_folder "time=100,40"
    write(folder .. "/task.lua", TASK)
    if changes ~= false then write(folder .. "/context/kernel_notes.md", contract_text(changes)) end
    local given = { checkout = false }
    for name, value in pairs(options or {}) do given[name] = value end
    return setmetatable({ folder = folder, options = given }, Place)
end

-- The same behind its baseline, with all that the first edit needs.
local function ready(changes, options)
    local at = workspace(changes, options)
    t.eq(at:try(nil), 0)
    for _, name in ipairs { "ako4all-kernel-loop.md", "profiling-debugging-reference.md", "troubleshooting.md" } do
        at:note("read", "https://example.org/references/" .. name)
    end
    at:note("ncu", "unavailable: no GPU here")
    return at
end

t.test("B1: the baseline waits for the checkout; the session's own files do not trip it, others do", function()
    local base = layout()
    local at = setmetatable({ folder = base.settings.folder .. "/scale", options = { base_dir = base.base,
        upstream_url = base.upstream } }, Place)
    t.eq(base.ensure(), nil)
    write(base.settings.folder .. "/stray.txt", "x\n")
    for name, text in pairs { ["task.lua"] = TASK, ["reference.c"] = "void scale(void);\n",
        ["context/kernel_notes.md"] = contract_text(), ["solution/kernel.c"] = scripted.source "time=100,40" } do
        write(at:path(name), text)
    end
    local code, said = at:try(nil)
    t.eq(code, 13)
    t.match(said, "^trial 0 may not begin: harness checkout .*/AKO4ALL: it has changes: %?%? stray.txt; ")
    t.eq(at:state(), nil)
    fs.remove_tree(base.settings.folder .. "/stray.txt")
    t.eq(at:try(nil), 0)
    t.match(at:last().facts.checkout, "/AKO4ALL, branch trunk, commit %x+$")
    t.match(at:read "ITERATIONS.md", "%*%*Harness checkout%*%*: /.*/AKO4ALL, branch trunk, commit %x+\n")
    at:note("read", "https://example.org/ako4all-kernel-loop.md")
    at:note("ncu", "unavailable: no GPU here")
    t.eq(at:try("time=50,20", "half"), 0)
    write(base.settings.folder .. "/bench.py", "tampered\n")
    code, said = at:try("time=40,20", "less")
    t.eq(code, 13)
    t.match(said, "trial 2 may not begin: harness checkout .*M bench.py")
    t.eq(#at:state().history, 2)
end)

t.test("B1: a missing checkout is cloned before the baseline, from the option's URL", function()
    local base = layout()
    local at = workspace(nil, { checkout = true, base_dir = base.base, upstream_url = base.upstream })
    local ctx = context(at)
    t.eq(verbs.brief(ctx), 0)
    t.ok(not fs.exists(base.settings.folder), "a question clones nothing")
    t.eq(at:try(nil), 0)
    t.eq(fs.read(base.settings.folder .. "/bench.py"), "one\n")
end)

t.test("B2: templates at the named paths, and nothing that is there is overwritten", function()
    local at = workspace(false)
    write(at:path "bench/bench_kernel.sh", "mine\n")
    t.eq(at:try(nil), 13)
    t.eq(at:read "input/kernel.c", scripted.source "time=100,40")
    t.eq(at:read "input/reference.c", "void scale(void);\n")
    t.eq(at:read "bench/bench_kernel.sh", "mine\n")
    local notes = at:read "context/kernel_notes.md"
    t.match(notes, "%*%*Shape%*%*: x f32%(N%) %-> y f32%(N%)\n%- %*%*Dtype%*%*: f32\n%- %*%*Layout%*%*: <")
    write(at:path "context/kernel_notes.md", contract_text())
    write(at:path "ITERATIONS.md", "my own\n")
    t.eq(at:try "time=90,40", 0)
    t.eq({ at:read "context/kernel_notes.md", at:read "ITERATIONS.md", at:read "input/kernel.c" },
        { contract_text(), "my own\n", scripted.source "time=100,40" })
    fs.remove_tree(at:path "ITERATIONS.md")
    fs.remove_tree(at:path "bench")
    at.options.lane = "cuda"
    t.eq(verbs.try((context(at, nil, { session = "again" }))), 0)
    t.match(at:read "ITERATIONS.md", "^# Iterations of scale\n")
    t.match(at:read "bench/bench_kernel.sh", "^#!/bin/sh\n# One trial of scale: .*%$%{AKO_LUA:%-ako%-lua%}")
end)

t.test("B3: the documents follow from lane, architecture and history", function()
    local function of(lane, arch, ...)
        local history = {}
        for i, status in ipairs { ... } do history[i] = { trial = i - 1, status = status, verdict = "keep" } end
        local list = references.required(lane, arch, history)
        t.eq(table.remove(list, 1), "ako4all-kernel-loop.md")
        return list
    end
    t.eq(of("c", "x86_64"), {})
    t.eq(of("triton", "sm_90a"), { "triton-kernel-reference.md", "triton/triton-overview.md", "triton/triton-*.md",
        "nvidia-architecture-reference.md", "architectures/sm90-optimization-guide.md" })
    t.eq(of("cuda", "sm_80"), { "cuda-cpp-kernel-reference.md", "cuda-cpp/cuda-cpp-overview.md",
        "nvidia-architecture-reference.md" })
    t.eq(of("cuda+cutlass", "sm_100"), { "cuda-cpp-kernel-reference.md", "cuda-cpp/cuda-cpp-overview.md",
        "nvidia-architecture-reference.md", "cuda-cpp/sm100-optimization-guide.md", "cutlass-cpp-kernel-reference.md",
        "cutlass-cpp/cutlass-cpp-overview.md", "cutlass-cpp/sm100-optimization-guide.md" })
    t.eq(of("cute-dsl", "sm_120")[5], "cute-dsl/sm120-optimization-guide.md")
    t.eq(of("triton", "sm_100")[5], nil)
    t.eq(of("c", "none", "PASSED"), {})
    t.eq(of("c", "none", "PASSED", "PASSED"), { "profiling-debugging-reference.md" })
    t.eq(of("c", "none", "INCORRECT_NUMERICAL"), { "profiling-debugging-reference.md" })
    t.eq(of("c", "none", "COMPILE_ERROR"), { "troubleshooting.md" })
end)

t.test("B3: a receipt names the document and a file with its hash, or a URL", function()
    local all = { "triton/triton-overview.md", "triton/triton-*.md", "x.md" }
    local function read_by(note)
        note.topic = note.topic or "read"
        local list = {}
        for i, receipt in ipairs(references.receipts({ notes = { note } }, all)) do
            list[i] = receipt.source and "read" or "-"
        end
        return table.concat(list, " ")
    end
    t.eq(read_by { file = "references/triton/triton-overview.md", hash = "abc" }, "read - -")
    t.eq(read_by { file = "references/triton/triton-overview.md" }, "- - -")
    t.eq(read_by { file = "triton/triton-fused-norm.md", hash = "abc" }, "- read -")
    t.eq(read_by { text = "triton/triton-overview.md" }, "- - -")
    t.eq(read_by { text = "triton/triton-overview.md, as https://triton-lang.org/main/ has it" }, "read - -")
    t.eq(read_by { text = "https://github.com/x/references/x.md." }, "- - read")
    t.eq(read_by { text = "x.md", file = "mine.txt", hash = "abc" }, "- - read")
    t.eq(read_by { text = "prefix-x.md https://example.org" }, "- - -")
    t.eq(read_by { topic = "idea", text = "https://example.org/x.md" }, "- - -")
end)

t.test("B3: no edit is tried before the documents are read; the baseline is", function()
    local at = workspace()
    t.eq(at:try("time=100,40", nil, '#include "cutlass/gemm.h"\n'), 0)
    local function refused()
        local code, said = at:try("time=50,20", "half", "#include <cute/tensor.hpp>\n")
        t.eq(code, 13)
        return said
    end
    t.match(refused(), "^trial 1 may not begin: references of lane cutlass on none, not read yet: "
        .. "ako4all%-kernel%-loop.md, cutlass%-cpp%-kernel%-reference.md, cutlass%-cpp/cutlass%-cpp%-overview.md "
        .. "%(note %-%-topic=read %-%-file=FILE, or %-m 'NAME URL'%)\n$")
    write(at:path "references/cutlass-cpp/cutlass-cpp-overview.md", "text\n")
    at:note("read", nil, { file = "references/cutlass-cpp/cutlass-cpp-overview.md" })
    at:note("read", "cutlass-cpp-kernel-reference.md is https://docs.nvidia.com/cutlass/")
    t.match(refused(), "not read yet: ako4all%-kernel%-loop.md %(")
    at:note("read", "https://example.org/ako4all-kernel-loop.md")
    at:note("ncu", "unavailable: no GPU here")
    t.eq(at:try("time=50,20", "half", "#include <cute/tensor.hpp>\n"), 0)
    t.eq(at:finish "unfinished: for the test", nil)
    local report = at:read "HANDOFF.md"
    t.match(report, "\n| cutlass%-cpp/cutlass%-cpp%-overview.md | references/cutlass%-cpp/cutlass%-cpp%-overview.md | "
        .. git.hash("text\n") .. " |\n")
    t.match(report, "\n| ako4all%-kernel%-loop.md | https://example.org/ako4all%-kernel%-loop.md | %- |\n")
    t.match(report, "\n| profiling%-debugging%-reference.md | not read | %- |\n")
end)

t.test("B4, B15: a contract with holes is refused with all that is missing, before anything is measured", function()
    local at = workspace { Layout = "<row or column>", Alignment = "TODO", Architecture = "" }
    local code, said, requests = at:try(nil)
    t.eq({ code, #requests }, { 13, 0 })
    t.match(said, "^trial 0 may not begin: the contract: context/kernel_notes.md lacks Layout, Alignment, "
        .. "Architecture; ")
    t.eq(at:state(), nil)
    write(at:path "context/kernel_notes.md", contract_text())
    t.eq(at:try(nil), 0)
    t.match(at:read "ITERATIONS.md", "%*%*Shape%*%*: N\n%- %*%*Dtype%*%*: f32\n%- %*%*Layout%*%*: dense\n")
end)

t.test("B4, B6: each field of the contract is wanted, the fastest baseline and dtype variants among them", function()
    local at = workspace(false)
    local run = { workspace = at.folder, next_trial = 0, task = { name = "scale", solution = { "solution/kernel.c" } } }
    for name in pairs(CONTRACT) do
        write(at:path "context/kernel_notes.md", contract_text { [name] = "<hint>" })
        t.match(contract.gate()(run, {}), "kernel_notes.md lacks " .. name .. "; fill in")
    end
    write(at:path "context/kernel_notes.md", contract_text())
    run.history, run.notes = {}, {}
    t.eq(contract.gate()(run, {}), nil)
end)

t.test("B5: the lane is a fact of each trial; a switch needs its reason first, and is an event in the log", function()
    local function seen(text, name) return lanes.of({ { name = name or "k.cu", text = text } }, { lane = "auto" }) end
    t.eq({ seen "__global__ void f();", seen "#include <cutlass/x.h>", seen("@triton.jit", "k.py"),
        seen("import cutlass.cute as cute", "k.py"), seen("x = 1", "k.py"), seen("int x;", "k.c"), seen("", "k.x") },
        { "cuda", "cutlass", "triton", "cute-dsl", "python", "c" })
    t.eq({ lanes.is_lane "cuda+cutlass" }, { true, "must name a lane, or be auto" })
    t.eq((lanes.is_lane "opencl"), false)
    t.eq(lanes.of({ { name = "k.cu", text = "" } }, { lane = "cuda+cutlass" }), "cuda+cutlass")
    local at = ready()
    t.eq(at:last().facts.lane, "c")
    local code, said = at:try("time=50,20", "tensor cores", "// __global__\n")
    t.eq(code, 13)
    t.match(said, "references of lane cuda")
    for _, name in ipairs { "cuda-cpp-kernel-reference.md", "cuda-cpp-overview.md" } do
        at:note("read", "https://example.org/cuda-cpp/" .. name)
    end
    code, said = at:try("time=50,20", "tensor cores", "// __global__\n")
    t.eq(code, 13)
    t.match(said, "a switch of the lane, from c to cuda, needs its reason beforehand: note %-%-topic=lane "
        .. "%-m 'cuda: WHY'")
    at:note("lane", "cuda")
    t.eq(at:try("time=50,20", "tensor cores", "// __global__\n"), 13)
    at:note("lane", "cuda: C has no tensor cores")
    t.eq(at:try("time=50,20", "tensor cores", "// __global__\n"), 0)
    local facts = at:last().facts
    t.eq({ facts.lane, facts.lane_from, facts.lane_why }, { "cuda", "c", "C has no tensor cores" })
    t.match(at:read "ITERATIONS.md", "%*%*Lane switch%*%*: c to cuda: C has no tensor cores\n")
    at:note("lane", "c: it was simpler", { about = 0 })
    t.eq(at:try("time=25,10", "and again", "// __global__\n"), 0)
    facts = at:last().facts
    t.eq({ facts.lane, facts.lane_from }, { "cuda" })
    code, said = at:try("time=20,8", "back to C")
    t.eq(code, 13)
    t.match(said, "a switch of the lane, from cuda to c, needs its reason")
end)

t.test("B6: 20 warm-ups, 100 launches; each shape with median, p95, min and errors, hot ones first", function()
    local at = workspace()
    local code, said, requests = at:try(nil)
    t.eq(code, 0)
    t.eq({ requests[1].numbers.time.warmup, requests[1].numbers.time.launches, requests[1].numbers.time.flush },
        { 20, 100, true })
    t.eq({ POLICY.correctness.tolerance.bf16, POLICY.timing.statistic }, { 1e-2, "median" })
    t.match(said, "^shape      median_us      p95_us      min_us   max_abs   max_rel\n"
        .. "N=64          100.00      100.00      100.00  0.00e%+00  0.00e%+00\n"
        .. "N=7            40.00       40.00       40.00  0.00e%+00  0.00e%+00\n")
    t.match(at:read "ITERATIONS.md", "\n| N=64 | hot | 1 | 100.00 | 100.00 | 100.00 | 0.00e%+00 | 0.00e%+00 |\n"
        .. "| N=7 | tail | 0.2 | 40.00 | ")
    local record = { workloads = { { id = "N=7", weight = 0.5, status = "PASSED" }, { id = "N=64", weight = 1,
        status = "INCORRECT_NUMERICAL", max_abs = 0.5, max_rel = 2 } } }
    t.eq(shapes.lines(record, 1)[2], "[FAIL] N=64: max_abs=5.000e-01 max_rel=2.000e+00")
end)

t.test("B6: the logs of a policy that extends this one have the numbers that were in force", function()
    local at, changed = workspace(), {}
    for name, value in pairs(POLICY) do changed[name] = value end
    changed.timing = setmetatable({ warmup = 2, launches = 30 }, { __index = POLICY.timing })
    local ctx, requests = context(at, nil, { policy = changed })
    t.eq(verbs.try(ctx), 0)
    t.eq(requests[1].numbers.time.launches, 30)
    t.match(at:read "ITERATIONS.md", "\nPASSED: 2 warm%-ups, 30 launches, cold L2; ")
end)

t.test("B6: a task without tail shapes is refused unless the contract says why there are none", function()
    local at = workspace()
    write(at:path "task.lua", (TASK:gsub(", weight = 0.2", "")))
    local code, said = at:try(nil)
    t.eq(code, 13)
    t.match(said, "no tail shape: all workloads of the task weigh the same; give rare ones a smaller weight")
    write(at:path "context/kernel_notes.md", contract_text { ["Tail shapes"] = "none, the engine pads" })
    t.eq(at:try(nil), 0)
end)

t.test("B6, K-B2: a wrong result ends with a code, and is never timed", function()
    local at = ready()
    local code = at:try("time=50,20 status=INCORRECT_NUMERICAL", "wrong")
    t.eq(code, 11)
    t.eq({ at:last().verdict, at:last().time_ns }, { "revert" })
end)

t.test("B7: every changed byte is built and checked before it is timed; equal code is not timed at all", function()
    local at = ready()
    local _, _, requests = at:try("time=50,20", "half")
    t.eq({ requests[1].steps, requests[2].steps }, { "build", "build check time" })
    _, _, requests = at:try("time=60,20 hash=50,20", "a comment")
    t.eq({ #requests, requests[1].steps }, { 1, "build" })
    t.match(at:last().reason, "no effect")
end)

t.test("B8: the baseline's record, and no edit before a profile of it or why there is none", function()
    local at = workspace()
    t.eq(at:try(nil), 0)
    local log = at:read "ITERATIONS.md"
    t.match(log, "%*%*Device%*%*: Scripted CPU, none, CPU%-0\n")
    t.match(log, "\n## Baseline\n\nPASSED: 20 warm%-ups, 100 launches, cold L2; p95 by ")
    t.match(log, "%*%*ncu%*%*: not recorded yet\n")
    at:note("read", "https://example.org/ako4all-kernel-loop.md")
    local code, said = at:try("time=50,20", "half")
    t.eq(code, 13)
    t.match(said, "a profile of the baseline: wanted ncu %(note %-%-topic=ncu %-%-file=FILE, or %-m "
        .. "'unavailable: why'%)")
    at:note("ncu", "I am sure it is memory")
    t.eq(at:try("time=50,20", "half"), 13)
    write(at:path "context/ncu.txt", "dram__throughput 91 %\n")
    at:note("ncu", "dram 91 %", { file = "context/ncu.txt" })
    t.eq(at:try("time=50,20", "half"), 0)
    t.match(at:read "ITERATIONS.md", "%*%*ncu%*%*: dram 91 %% %[context/ncu.txt, %x+%]\n")
end)

t.test("B8: where launch gaps are suspected a timeline is wanted, too", function()
    local at = ready { ["Launch gaps"] = "suspected, twelve small kernels" }
    local code, said = at:try("time=50,20", "half")
    t.eq(code, 13)
    t.match(said, "the contract suspects launch gaps: wanted nsys ")
    at:note("nsys", "unavailable: no GPU here")
    t.eq(at:try("time=50,20", "half"), 0)
end)

t.test("B9: one idea a trial, said beforehand", function()
    local at = ready()
    local code, said = at:try "time=50,20"
    t.eq(code, 13)
    t.match(said, "no hypothesis: say with %-m")
    local lines = {}
    for i = 1, 90 do lines[i] = "// line " .. i end
    t.eq(at:try("time=50,20", "rewrite: long", table.concat(lines, "\n") .. "\n"), 0)
    for i = 5, 85, 10 do lines[i] = "// other " .. i end
    code, said = at:try("time=40,20", "many things", table.concat(lines, "\n") .. "\n")
    t.eq(code, 13)
    t.match(said, "places differ from the best, at most 4 in one trial")
    t.eq(at:try("time=40,20", "rewrite: split-K", table.concat(lines, "\n") .. "\n"), 0)
    t.eq(#at:state().history, 3)
end)

t.test("B9: keep, keep-flagged and revert are decided, and failed attempts stay in log, branch and refs", function()
    local at = ready()
    t.eq(at:try("time=50,20", "half"), 0)
    t.eq(at:try("time=60,20", "padding"), 1)
    t.eq(at:try("time=20,24", "tuned for one shape"), 0)
    t.eq(at:try("time=10,10 status=COMPILE_ERROR", "typo"), 10)
    local log = at:read "ITERATIONS.md"
    t.match(log, "### Iter 2: padding\n.-%*%*Decision%*%*: revert: ")
    t.match(log, "### Iter 3: tuned for one shape\n.-%*%*Decision%*%*: keep%-flagged: [^\n]*; flagged: "
        .. "N=7 is 16.7 %% slower, p95 of N=7 is 20.0 %% longer\n")
    t.match(log, "### Iter 4: typo\n.-%*%*Correctness%*%*: COMPILE_ERROR")
    t.eq(at:subjects(), { "[iter 4] typo: revert", "[iter 3] tuned for one shape: keep-flagged",
        "[iter 2] padding: revert", "[iter 1] half: keep", "[iter 0] baseline: keep" })
    local state, repo = at:state()
    t.eq(repo:read(("refs/ako/%s/2"):format(state.name), "solution/kernel.c"), scripted.source "time=60,20")
    t.eq(repo:read(state.branch.ref, "context/kernel_notes.md"), contract_text())
    t.eq(at:read "solution/kernel.c", scripted.source "time=20,24")
end)

t.test("B9: on a noisy machine a flag is what is more than its noise", function()
    local function flags(raised_from)
        local function record(p95) return { workloads = { { id = "N=64", time_ns = { p95 = p95 } } },
            paired = { threshold = 0.15, raised_from = raised_from } } end
        return #shapes.flags(record(110), record(100), 0.02), #shapes.flags(record(120), record(100), 0.02)
    end
    t.eq({ flags(nil) }, { 1, 1 })
    t.eq({ flags(0.01) }, { 0, 1 })
end)

t.test("B9: a shape is slower when its whole interval says so", function()
    local function flags(high)
        return #shapes.flags({ workloads = { { id = "N=7", speedup = { best = 0.9 },
            interval = { best = { 0.8, high } } } } }, nil, 0.02)
    end
    t.eq({ flags(0.99), flags(1.01) }, { 1, 0 })
end)

t.test("B9: faster on tail shapes alone is no win", function()
    local at = ready()
    t.eq(at:try("time=100,10 hash=b", "tails"), 1)
    t.match(at:last().reason, "^faster on tail shapes alone: ")
    t.eq(at:try("time=90,10", "both"), 0)
end)

t.test("B10: after three trials without a win: profile, log read again and a direction, before the fourth", function()
    local at = ready()
    for i = 1, 3 do t.eq(at:try(("time=%d,40"):format(100 + i), "attempt " .. i), 1) end
    local code, said = at:try("time=50,20", "fourth")
    t.eq(code, 13)
    t.match(said, "trial 4 may not begin: 3 trials up to trial 3 without a gain of more than 0 %%: wanted before the "
        .. "next one: ncu .*, reread .*, direction or lane ")
    t.eq(#at:state().history, 4)
    local ctx = context(at)
    t.eq(verbs.brief(ctx), 0)
    t.match(ctx.console.stdout, "a trial is refused now: 3 trials up to trial 3")
    at:note("ncu", "unavailable: no GPU here")
    at:note("reread", "all three touched the loads")
    t.eq(at:try("time=50,20", "fourth"), 13)
    at:note("direction", "stores instead of loads")
    t.eq(at:try("time=50,20", "fourth"), 0)
    t.match(at:read "ITERATIONS.md", "%*%*Direction%*%*: stores instead of loads\n")
end)

-- A win, and a note for everything that its validation wants, but these.
local function won(changes, without)
    local at = ready(changes)
    t.eq(at:try("time=50,20", "half"), 0)
    write(at:path "context/port.diff", "+new\n")
    local notes = { { "build", "imports" }, { "correctness", "as the previous operator, 1e-4" },
        { "operator", "1.80x over the previous one" }, { "ncu", "unavailable: no GPU here" },
        { "risk", "sm_100 untested" },
        { "port", "engine/ops/scale.py, behind a switch", { file = "context/port.diff" } } }
    for _, note in ipairs(notes) do
        if note[1] ~= without then at:note(table.unpack(note)) end
    end
    return at
end

t.test("B11: only the winner's port counts; the report has it, the old path and the assumptions", function()
    local at = won(nil, "port")
    at:note("port", "the baseline, ported", { file = "context/port.diff", about = 0 })
    t.match(at:finish "all of it", "^not done, missing: port; ")
    at:note("port", "by hand, no file")
    t.match(at:finish "all of it", "missing: port; ")
    t.eq(at:try("time=60,20", "padding"), 1)
    at:note("port", "the reverted one", { file = "context/port.diff" })
    t.match(at:finish "all of it", "missing: port; ")
    at:note("port", "engine/ops/scale.py", { file = "context/port.diff", about = 1 })
    t.eq(at:finish "all of it", nil)
    local state, report = at:state(), at:read "HANDOFF.md"
    t.match(report, "%*%*The winner%*%*: trial 1, commit " .. state.best.commit .. ", tree " .. state.best.tree .. "\n")
    t.match(report, "%*%*The old path%*%*: input/, and refs/ako/" .. state.name:gsub("%p", "%%%0") .. "/0\n")
    t.match(report, "%*%*Ported to%*%*: engine/ops/scale.py %[context/port.diff, %x+%]\n")
    t.match(report, "%*%*Assumes alignment%*%*: 16 bytes\n%- %*%*Assumes architecture%*%*: sm_90, sm_100\n")
    t.eq(at:read "input/kernel.c", scripted.source "time=100,40")
end)

t.test("B12: done is what the checklist says, not what somebody says", function()
    for _, name in ipairs { "build", "correctness", "operator", "ncu", "risk" } do
        local at = won(nil, name)
        local item = name == "ncu" and "profile" or name
        t.match(at:finish "done", "^not done, missing: " .. item .. "; ITERATIONS.md says what each wants %(note 1 ")
        t.eq(at:state().finished, nil)
    end
    local at = won { ["Model path"] = "serving, the decoder" }
    t.match(at:read "ITERATIONS.md", "\n%- %[x%] port: ")
    t.match(at:finish "done", "missing: model; ")
    at:note("model", "about the same")
    t.match(at:finish "done", "missing: model; ")
    at:note("model", "1.06x tokens per second")
    t.eq(at:finish "done", nil)
    t.match(at:read "HANDOFF.md", "\nStatus: done. Session [^\n]*, ended: done\n")
    t.match(at:read "HANDOFF.md", "\n%- %[x%] model: [^\n]*%(1.06x tokens per second%)\n")
    local state, repo = at:state()
    t.eq(at:subjects()[1], "[final] iter 1 (2.00x): done")
    t.eq(repo:resolve(("refs/tags/handoff-%s^{commit}"):format(state.name)), repo:resolve(state.branch.ref))
end)

t.test("B4, B12: a contract that is changed afterwards needs its reason, for the next trial and for the end", function()
    local at, file = won { ["Model path"] = "serving, the decoder" }, "context/kernel_notes.md"
    write(at:path(file), contract_text { ["Model path"] = "none" })
    t.match(at:finish "done", "^not done, context/kernel_notes.md is not what trial 1 was measured under: undo the "
        .. "change, or give its reason %(note %-%-topic=contract %-%-file=context/kernel_notes.md %-m WHY%)")
    at:note("contract", "no word of which")
    at:note("contract", "about another text", { file = "context/port.diff" })
    local code, said = at:try("time=40,15", "quarter")
    t.eq(code, 13)
    t.match(said, "kernel_notes.md is not what trial 1 was measured under")
    write(at:path "solution/kernel.c", scripted.source "time=50,20")
    at:note("contract", "the decoder has gone", { file = file })
    t.eq(at:finish "done", nil)
    local undone = won { ["Model path"] = "serving, the decoder" }
    fs.remove_tree(undone:path(file))
    t.match(undone:finish "done", "kernel_notes.md is not what trial 1 was measured under")
    write(undone:path(file), contract_text { ["Model path"] = "serving, the decoder" })
    t.match(undone:finish "done", "missing: model")
end)

t.test("B12: a best whose verification has no figure is given none", function()
    local verified = { trial = 1, status = "INCORRECT_NUMERICAL", speedup = {} }
    local run = { workspace = t.tmpdir(), task = { name = "k", solution = {} }, history = {}, notes = {},
        best = { trial = 1 }, finished = { verified = verified } }
    t.match(POLICY.git.final(run, { transfer = 0.0 }), "^%[final%] iter 1 %(%-%): missing: .*the last verification$")
end)

t.test("B12: a session may end unfinished, and then is called so everywhere", function()
    local at = won(nil, "operator")
    t.eq(at:finish "unfinished: the machine is needed", nil)
    t.match(at:read "HANDOFF.md", "\nStatus: not done, missing: operator. Session ")
    t.match(at:read "HANDOFF.md", "%*%*Not validated%*%*: operator: no note\n")
    local state, repo = at:state()
    t.eq(at:subjects()[1], "[final] iter 1 (2.00x): missing: operator")
    t.eq(repo:resolve(("refs/tags/handoff-%s"):format(state.name)), nil)
end)

t.test("B13: a win that does not reach the operator is taken back before anything is built on it", function()
    local at = won(nil, "operator")
    at:note("operator", "1.00x")
    t.match(at:finish "done", "^not done, the win does not transfer %(operator: 1.00x%); ")
    local code, said = at:try("time=25,10", "quarter")
    t.eq(code, 13)
    t.match(said, "the win of trial 1 does not transfer %(operator: 1.00x%): take it back with revert 1 %-m WHY")
    local ctx = context(at, { message = "flat in the operator" })
    ctx.operands = { 1 }
    t.eq(verbs.revert(ctx), 0, ctx.console.stderr)
    t.eq(at:state().best.trial, 0)
    t.eq(at:try("time=75,30", "three quarters"), 0)
    t.match(at:read "ITERATIONS.md", "### Iter 1: half\n.-%*%*Decision%*%*: not kept, by hand: flat in the operator\n")
    t.match(at:read "ITERATIONS.md", "\n| 1 | half | PASSED | [^\n]*| not kept, by hand |\n")
    t.eq(at:last().against, 0)
end)

t.test("B14: the report has its seven parts, from the records", function()
    local at = won()
    at:note("cause", "half the bytes")
    t.eq(at:finish "done", nil)
    local report, titles = at:read "HANDOFF.md", {}
    for title in report:gmatch("\n## ([^\n]*)") do titles[#titles + 1] = title end
    t.eq(titles, { "1. References read", "2. Lane, files, port-back", "3. Correctness and validation",
        "4. Baseline against optimized", "5. Iterations", "6. Profile", "7. Remaining risks" })
    t.match(report, "\n%- %*%*Lane%*%*: c\n%- %*%*Files%*%*: solution/kernel.c\n")
    t.match(report, "\nAt the end: PASSED. Before each timing 5 checks on fresh inputs, against reference.c.\n"
        .. "Allowed: allclose_ref, atol 0.0001, rtol 0.0001; found at most: max_abs 0.00e%+00, max_rel 0.00e%+00.\n")
    t.match(report, "\n| N=64 | hot | 100.00 | 100.00 | 50.00 | 50.00 | 2.000x | 4.000x |\n| N=7 | tail | 40.00 | ")
    t.match(report, "\nITERATIONS.md has all 1 trial; each is a commit on the session's branch, and refs/ako/")
    t.match(report, "%*%*ncu, winner%*%*: unavailable: no GPU here\n")
    t.match(report, "%*%*Root cause%*%*: half the bytes\n")
    t.match(report, "%*%*Architectures%*%*: measured on none alone; wanted: sm_90, sm_100\n")
    t.match(report, "%*%*Noted%*%*: sm_100 untested\n")
end)

t.test("B14: an override behind the end is not given the figures of another trial's verification", function()
    local at = won()
    t.eq(at:try("time=25,20", "half of it again"), 0)
    t.eq(at:finish "unfinished: no time", nil)
    t.match(at:read "HANDOFF.md", "\n| N=64 | hot | 100.00 | 100.00 | 25.00 | 25.00 | 4.000x | ")
    local ctx = context(at, { message = "unreadable" })
    ctx.operands = { 2 }
    t.eq(verbs.revert(ctx), 0, ctx.console.stderr)
    local report = at:read "HANDOFF.md"
    t.match(report, "\nStatus: not done, missing: [^\n]*the last verification. Session ")
    t.match(report, "%*%*The winner%*%*: trial 1, ")
    t.match(report, "\nNot verified, as tried: PASSED. Before each timing ")
    t.match(report, "\n| N=64 | hot | 100.00 | 100.00 | 50.00 | 50.00 | 2.000x | ")
end)

t.test("B15: no task is a question with what is missing, and nothing is made", function()
    local folder = t.tmpdir()
    local at = setmetatable({ folder = folder, options = {} }, Place)
    for _, verb in ipairs { "run", "try", "plan" } do
        local ctx, requests = context(at)
        ctx.home = t.home
        t.eq(verbs[verb](ctx), 2)
        t.match(ctx.console.stderr, "^ako%-lua: what is to be made faster%? Without a task kernel, shape, dtype, "
            .. "hardware and baseline are missing: write a task.lua")
        t.eq(#requests, 0)
    end
    t.eq(fs.list(folder), {})
end)

t.test("X1: keep is what pairs show beyond the threshold", function()
    local at = ready()
    t.eq(at:try("time=99.5,39.8", "half a per cent"), 1)
    t.eq(at:try("time=98,39", "two per cent"), 0)
    t.eq({ at:last().paired.verdict, at:last().against }, { "keep", 0 })
end)

t.test("X2: logs are renderings: a lost one comes back, and no note changes a figure", function()
    local at = ready()
    t.eq(at:try("time=50,20", "half"), 0)
    local function entry() return at:read("ITERATIONS.md"):match("(### Iter 1: half\n\n.-)\n\n") end
    local before = entry()
    t.match(before, "2.00x over the original")
    fs.remove_tree(at:path "ITERATIONS.md")
    t.eq(at:try("time=60,20", "more"), 1)
    t.eq(entry(), before)
    at:note(nil, "9.00x over the original", { about = 1 })
    t.eq(at:try("time=70,20", "even more"), 1)
    t.eq(entry(), before .. "\n- **Note**: 9.00x over the original")
end)

t.test("X3, X4: figures carry device and commit; over the best, the original and the reference are three", function()
    local at = ready()
    t.eq(at:try("time=50,20", "half"), 0)
    t.eq(at:try("time=25,10", "quarter"), 0)
    local log = at:read "ITERATIONS.md"
    t.match(log, "### Iter 2: quarter\n.-%*%*Change%*%*: commit " .. at:last().commit:sub(1, 12) .. ", 1 line\n")
    t.match(log, "median [%d.]+ us %(%+100.0 %% against trial 1%), p95 [%d.]+ us; 4.00x over the original, "
        .. "[%d.]+x over the reference\n")
    t.match(log, "%*%*Device%*%*: [^\n]*CPU%-0\n")
end)

t.test("X5: the interface is the task's: another one voids the trial", function()
    local at = ready()
    write(at:path "task.lua", (TASK:gsub('"f32", { "N" }, role', '"f16", { "N" }, role')))
    local code, said = at:try("time=50,20", "half the bytes")
    t.eq({ code, at:last().code }, { 13, "PROTECTED" })
    t.match(said, "protected file task.lua changed since the session began")
end)

t.test("X6: what is not there is never read as passed", function()
    local run = { workspace = t.tmpdir(), task = { name = "scale", solution = { "k.c" } }, notes = {}, history = {} }
    t.eq(validation.missing(run, 0), "nothing beats the baseline")
    run.best = { trial = 1 }
    t.eq(validation.missing(run, 0), "missing: port, build, correctness, operator, profile, model, risk")
    run.notes[1] = { topic = "operator", trial = 1, text = "much better" }
    t.match(validation.missing(run, 0), "operator")
    run.notes[1].text = "1.2x"
    t.ok(not validation.missing(run, 0):find("operator"))
    t.match(validation.missing(run, 0.2), "does not transfer")
    run.notes[1].text = "flat"
    t.match(validation.missing(run, 0), "does not transfer %(operator: flat%)")
end)

t.test("the page about the policy names a test for each criterion, and only tests that are there", function()
    local page = assert(fs.read(fs.join(t.home, "docs/ako4all_gated.md")))
    local tests = assert(fs.read(fs.join(t.home, "tests/lua/test_ako4all_gated.lua")))
    local has = {}
    for criteria, name in page:gmatch("\n| ([BX]%d[^|]-) | ([^|\n]+) |") do
        t.ok(tests:find(('t.test("%s: %s"'):format(criteria, name), 1, true), criteria .. ": " .. name)
        for one in criteria:gmatch("[BX]%d+") do has[one] = true end
    end
    for n = 1, 15 do t.ok(has["B" .. n], "no test for B" .. n) end
end)

-- The verbs through the program itself, with real processes, kernels and git: what an agent sees that calls one after
-- the other.
local fs = require "ako.fs"
local json = require "ako.json"
local process = require "ako.process"
local program = require "program"
local t = require "ako.tap"

local write, folder = program.write, program.folder

local KERNEL = [[
void scale(const float *x, float *y, int N)
{
    for (int i = 0; i < N; i++)
        for (volatile int k = 0; k < %d; k++)
            y[i] = 2.0f * x[i];
}
]]

local REFERENCE = "void scale(const float *x, float *y, int N) { for (int i = 0; i < N; i++) y[i] = 2.0f * x[i]; }\n"
local WORDS = 'return { [true] = "faster", [false] = "not faster" }\n'

write("task.lua", [[
return {
  name = "scale",
  tensors = { x = { "f32", { "N" } }, y = { "f32", { "N" }, role = "output" } },
  workloads = { { N = 20000 } },
  reference = { "reference.c", entry = "scale", args = { "x", "y", "N" } },
  solution = { "solution/kernel.c" },
}
]])
write("reference.c", REFERENCE)
write("mine/words.lua", WORDS)
write("mine.lua", [[
local words = require "mine.words"
return {
  name = "mine", description = "quick rules for tests",
  correctness = { trials = 1, seed = 1, predicate = "allclose_ref", tolerance = { f32 = 1e-4 }, weak = "warn" },
  timing = { warmup = 1, launches = 5, flush = false, timer = "auto", alpha = 0.1, reference = false,
    statistic = "median" },
  budget = { build = 60, check = 60, time = 60, propose = 100, no_ops = 2 },
  accept = function(record, best)
    local better = record.time_ns.median * 2 < best.time_ns.median
    return better and "keep" or "revert", words[better]
  end,
}
]])

local function kernel(turns) write("solution/kernel.c", KERNEL:format(turns)) end
local function solution() return assert(fs.read(folder .. "/solution/kernel.c")) end

local function ako(...) return program.run("--device=cpu", "--quiet", "mine.lua", ...) end

-- The one JSON object of a call that ends with `code`.
local function object_of(code, ...)
    local r = ako("--json", ...)
    t.eq({ r.code, select(2, r.stdout:gsub("\n", "")) }, { code, 1 }, r.stderr)
    return assert(json.decode(r.stdout))
end

local function says(code, pattern, ...)
    local r = ako(...)
    t.eq({ r.stdout, select(2, r.stderr:gsub("\n", "")) }, { "", 1 })
    t.match(r.stderr, "^ako%-lua: " .. pattern)
    t.eq(r.code, code, "exit code")
end

t.test("what is missing is named before there is a repository, a session or a trial", function()
    for _, verb in ipairs { "status", "log", "report", "finish", "resume" } do
        local words = verb == "finish" and { "finish", "-mdone" } or { verb }
        says(2, "no session in /[^\n]+ yet; `run` or `try` starts one\n$", table.unpack(words))
    end
    says(2, "show needs the number of a trial: show N; `log` lists them\n$", "show")
    says(2, "diff needs the number of a trial: diff N %[M%]; `log` lists them\n$", "diff", "--stat")
    says(2, "diff: 'x' is no number of a trial\n$", "diff", "1", "x")
    says(2, "unexpected argument '3' behind the verb show\n$", "show", "1", "3")
    says(2, "option %-%-stat is none of the verb show\n$", "show", "1", "--stat")
    says(2, "option %-%-topic is none of the verb keep\n$", "keep", "1", "--topic=x", "-mwhy")
    says(2, "option %-%-last must be at least 1, got '0'\n$", "log", "--last=0")
    for _, name in ipairs(assert(fs.list(folder))) do t.ok(name ~= ".git" and name ~= "solution", name) end
end)

t.test("a session from init to report", function()
    kernel(40)
    t.match(ako("init").stdout, "^workspace /[^\n]+: a new git repository\nmade: nothing, all is there\nnext: "
        .. "`ako%-lua %-%-device=cpu mine.lua try` measures the files as they are; because everything is compared with "
        .. "the first trial\n$")
    t.eq(ako("note", "-m", "the inner loop is waste", "--topic=idea").code, 0)
    t.match(ako("brief").stdout, "\nopen ideas:\n%- the inner loop is waste\n"
        .. "next: `ako%-lua %-%-device=cpu mine.lua try` measures ")
    t.eq(object_of(0, "try").trial, 0)
    kernel(2)
    local kept = object_of(0, "try", "-m", "less work", "--predict=500", "--label=a")
    t.eq({ kept.trial, kept.verdict, kept.hypothesis, kept.predict, kept.label, #kept.tree }, { 1, "keep", "less work",
        500.0, "a", 40 })
    kernel(60)
    t.eq(object_of(1, "try", "-m", "more work").verdict, "revert")
    t.eq(solution(), KERNEL:format(2), "the best is back")
    local shown = object_of(0, "show", "2", "--source")
    t.eq({ shown.sources[1].text, shown.change.against, shown.commit ~= kept.commit }, { KERNEL:format(60), 1, true })
    t.match(ako("diff", "2").stdout, "\n%-[^\n]*k < 2; [^\n]*\n%+[^\n]*k < 60; ")
    t.match(ako("log", "--last=2").stdout, '\n    1  keep +PASSED [^\n]* %+500.0 %%  "less work": faster\n    2  rev')
    t.eq(ako("note", "2", "-m", "of course", "--file=task.lua").code, 0)
    t.eq(ako("keep", "2", "-m", "to see it").code, 0)
    t.eq(solution(), KERNEL:format(60))
    t.eq(ako("revert", "2", "-m", "seen").code, 0)
    t.eq(solution(), KERNEL:format(2))
    t.match(ako("report", "--markdown").stdout, "\n## Overrides by hand\n\n%- trial 2: keep, [^\n]+\n%- trial 2: ")
    t.match(ako("finish", "-m", "fast enough").stdout, "^best: trial 1 [^\n]+; measured again: [^\n]+\nsession [^\n]+; "
        .. "ended: fast enough\n")
    t.match(ako("brief").stdout,
        "\nnext: `ako%-lua %-%-device=cpu mine.lua try %-%-session=NAME` starts another session; because ")
end)

t.test("a trial is voided by a change of the reference, the task, the policy or one of its modules", function()
    kernel(2)
    local originals = { ["reference.c"] = REFERENCE, ["mine/words.lua"] = WORDS,
        ["task.lua"] = fs.read(folder .. "/task.lua"), ["mine.lua"] = fs.read(folder .. "/mine.lua") }
    t.eq(object_of(0, "--session=p", "try").trial, 0)
    local mark = { ["reference.c"] = "// ", ["task.lua"] = "-- ", ["mine.lua"] = "-- ", ["mine/words.lua"] = "-- " }
    for name, text in pairs(originals) do
        write(name, mark[name] .. "touched\n" .. text)
        local record = object_of(13, "--session=p", "try", "-m", "an honest try")
        t.eq({ record.status, record.code, record.reason }, { "REJECTED", "PROTECTED",
            ("protected file %s changed since the session began"):format(name) })
        write(name, text)
    end
    write("mine/build/out.o", "x") -- no module, and so nothing that decides
    write("mine/words.lua~", "x")
    write("mine/.words.lua.swp", "x")
    kernel(60)
    t.eq(object_of(1, "--session=p", "try", "-m", "an honest try").status, "PASSED")
    write("mine/more.lua", "return 1")
    t.eq(object_of(13, "--session=p", "try", "-m", "x").reason,
        "protected file mine/more.lua changed since the session began")
    t.ok(fs.remove_tree(folder .. "/mine/more.lua"))
    write("reference.c", "// touched\n" .. REFERENCE)
    says(13, "protected file reference.c changed since session p began: undo that change, or begin another session\n$",
        "--session=p", "finish", "-mdone")
    write("reference.c", REFERENCE)
    local r = ako("--session=p", "finish", "-m", "done")
    t.eq(r.code, 0, r.stderr)
end)

t.test("a policy is the same one however and from where it is named", function()
    kernel(2)
    t.eq(object_of(0, "--session=n", "try").trial, 0)
    local function tried(...)
        kernel(60)
        local r = program.run("--device=cpu", "--quiet", "--json", "--session=n", ...)
        local record = assert(json.decode(r.stdout), r.stderr)
        t.eq({ record.status, r.code }, { "PASSED", 1 }, record.reason)
    end
    tried(folder .. "/mine.lua", "try", "-mwhole")
    tried("./solution/../mine.lua", "try", "-mround")
    local r = assert(process.run { program.path, "--device=cpu", "--quiet", "--session=n", "--workspace=..",
        "../mine.lua", "try", "-mbelow", cwd = folder .. "/solution", env = { AKO_HOME = t.home } })
    t.eq(r.code, 1, r.stdout .. r.stderr)
end)

t.test("another policy or task in a session is refused by name, and nothing is voided, written or counted", function()
    kernel(2)
    t.eq(object_of(0, "--session=o", "try").trial, 0)
    write("other.lua", fs.read(folder .. "/mine.lua"))
    write("tasks/task.lua", fs.read(folder .. "/task.lua"))
    write("tasks/reference.c", REFERENCE)
    write("second.lua", fs.read(folder .. "/task.lua"))
    local before = assert(fs.read(folder .. "/.git/ako/o/journal.jsonl"))
    local function refused(what, ...)
        local r = program.run("--device=cpu", "--quiet", "--session=o", ...)
        t.eq(r.stdout, "")
        t.match(r.stderr, "^ako%-lua: session o was begun with the " .. what .. ": go on with that one, or begin "
            .. "another session with %-%-session=NAME\n$")
        t.eq(r.code, 13)
        t.eq(fs.read(folder .. "/.git/ako/o/journal.jsonl"), before)
    end
    local policy = "policy mine.lua, not with other.lua"
    refused(policy, "other.lua", "try", "-mx")
    refused(policy, "other.lua", "finish", "-mx")
    refused(policy, "other.lua", "keep", "0", "-mx")
    refused("task task.lua, not with second.lua", "--task=second.lua", "mine.lua", "try", "-mx")
    t.eq(object_of(1, "--session=o", "try", "-mgo on").trial, 1)
end)

t.test("a workspace that is called like its policy is no module of it", function()
    program.fresh()
    for _, name in ipairs { "task.lua", "reference.c", "solution/kernel.c" } do
        program.write("mine/" .. name, assert(fs.read(fs.join(folder, name))))
    end
    program.write("mine.lua", assert(fs.read(fs.join(folder, "mine.lua"))):gsub('require "mine.words"', '"words"'))
    local r = program.run("--device=cpu", "--quiet", "--workspace=mine", "mine.lua", "try")
    t.eq(r.code, 0, r.stderr)
    r = program.run("--device=cpu", "--quiet", "--workspace=mine", "mine.lua", "try", "-m", "again")
    t.eq(r.code, 1, r.stderr)
    program.folder = folder
end)

-- Two at once

-- Runs shell commands while a run is at work in the background, whose proposer waits for a file `go`. In them $run is
-- the run's process, and `ask NAME VERB ...` calls the program and keeps what it says. Returns { code, text } by name.
local function beside_a_run(commands)
    assert(fs.remove_tree(folder .. "/said"))
    for _, name in ipairs { "ready", "go" } do assert(fs.remove_tree(folder .. "/" .. name)) end
    write("said/none", "")
    write("propose.sh", "touch ready; while [ ! -e go ]; do sleep 0.1; done\n"
        .. 'sed -i "s/k < 40/k < 4/" solution/kernel.c\n')
    kernel(40)
    local r = program.shell([[
        ask() { name=$1; shift; $ako --device=cpu --quiet mine.lua "$@" >said/$name 2>&1; echo $? >said/$name.code; }
        $ako --device=cpu --quiet mine.lua run --propose='sh propose.sh' >said/run 2>&1 &
        run=$!
        for i in $(seq 600); do [ -e ready ] && break; sleep 0.1; done
        [ -e ready ] || exit 9
        echo $run >said/id
        ]] .. commands)
    t.eq({ r.code, r.stderr }, { 0, "" }, fs.read(folder .. "/said/run"))
    return setmetatable({}, { __index = function(_, name)
        local code = fs.read(folder .. "/said/" .. name .. ".code")
        return { code = math.tointeger(tonumber(code or "")), text = fs.read(folder .. "/said/" .. name) }
    end })
end

t.test("beside a run others can look and note, and another trial is refused with the holder's name", function()
    local said = beside_a_run [[
        ask try try -m 'me too'
        ask keep keep 0 -m x --session=p --force
        ask status status
        ask log log
        ask show show 0
        ask brief brief
        ask note note -m 'from outside'
        kill $run; wait $run; echo $? >said/run.code
        ask after status
        ask next brief]]
    local id = said.id.text:match "%d+"
    t.eq({ said.try.code, said.keep.code }, { 125, 125 })
    t.match(said.try.text, "^ako%-lua: the workspace /[^\n]+ is in use: [^\n]*session scale%-%w+[^\n]* process " .. id
        .. "; wait until that ends, or stop it with `kill " .. id .. "`\n$")
    t.match(said.status.text, "\nat work: process " .. id .. "\n$")
    t.match(said.log.text, "\n    0  keep +PASSED ")
    t.match(said.show.text, "^trial 0: keep, PASSED\n")
    t.match(said.brief.text, "^goal: ")
    t.eq({ said.status.code, said.log.code, said.show.code, said.brief.code, said.note.code }, { 0, 0, 0, 0, 0 })
    t.eq(said.run.code, 130)
    t.match(said.after.text, "\nopen: `resume` goes on with it\n$")
    t.match(said.next.text, "\nnext: `ako%-lua %-%-device=cpu mine.lua resume`; because the run was interrupted")
end)

t.test("a run whose host is killed goes on with `resume`, with the same proposer, and ends", function()
    local said = beside_a_run [[
        kill -KILL $run; wait $run 2>said/killed
        ask status status
        touch go
        ask resume resume]]
    t.match(said.status.text, "\nopen: `resume` goes on with it\n$")
    t.eq(said.resume.code, 0, said.resume.text)
    local name = object_of(0, "status").session:gsub("%-", "%%-")
    t.match(said.resume.text, "^best: trial 1 [^\n]*\nsession " .. name .. ": 1 candidate %(1 kept, [^\n]*; ended: "
        .. "2 proposals in a row without a change to try")
    t.eq(solution(), KERNEL:format(4))
    local trials = object_of(0, "log").trials
    t.eq({ #trials, trials[2].candidate }, { 2, "proposal 2" })
    says(2, "session " .. name .. " is finished %(2 proposals in a row [^\n]*%); %-%-session=[^\n]+ goes on with an ol",
        "resume")
end)

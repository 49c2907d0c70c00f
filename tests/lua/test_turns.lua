-- Two runs on one device take turns: no timed section overlaps another, builds go on meanwhile, the holder is named,
-- and one that died holds nothing. Here on the CPU, which is locked as a GPU is. A run is made to hold the lock by a
-- reference that does not return before a file is there.
local evaluator = require "ako.evaluator"
local fs = require "ako.fs"
local git = require "ako.git"
local plan = require "ako.plan"
local process = require "ako.process"
local program = require "program"
local session = require "ako.session"
local t = require "ako.tap"
local task = require "ako.task"
local unit = require "ako.unit"

local NUMBERS = [[
    correctness = { trials = 1, seed = 1, predicate = "allclose_ref", tolerance = { f32 = 1e-4 } },
    timing = { warmup = 1, launches = 3, flush = false, timer = "wall", alpha = 0.05, reference = false,
        statistic = "median" },
    budget = { build = 60, check = 60, time = 60 },
]]
local POLICY = ([[
local rules = require "ako.rules"
local policy = require "ako.policy"
return policy.extend { name = "short", description = "for tests", accept = rules.all(rules.faster_by(0.0)),
%s}
]]):format(NUMBERS)
local TASK = [[
return { name = "twice", tensors = { x = { "f32", { "N" } }, y = { "f32", { "N" }, role = "output" } },
  workloads = { { N = 64 } }, reference = { "reference.c", entry = "twice", args = { "x", "y", "N" } },
  solution = { "solution/kernel.c" } }
]]
local HEAD = "void twice(const float *x, float *y, int n)\n"
local FREE = HEAD .. "{ for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }\n"
local NUMBERED = HEAD .. "{ volatile int number = %d; for (int i = 0; i < n; i++) y[i] = 2 * x[i]; (void)number; }\n"
local SLOW = "#include <unistd.h>\n" .. HEAD
    .. "{ usleep(40000); for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }\n"
local HELD = [[
#include <fcntl.h>
#include <unistd.h>
void twice(const float *x, float *y, int n)
{
    close(open("%s/inside", O_CREAT | O_WRONLY, 0600));
    while (access("%s/go", F_OK) != 0)
        usleep(1000);
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i];
}
]]

local made = 0

-- Two workspaces side by side, a and b, with this reference in a and another one or the same in b.
local function workspaces(of_a, of_b)
    made = made + 1
    local folder = fs.join(program.folder, "turns" .. made)
    for _, name in ipairs { "a", "b" } do
        assert(fs.mkdirs(fs.join(folder, name, "solution")))
        assert(fs.mkdirs(fs.join(folder, name, "candidates")))
        assert(fs.write(fs.join(folder, name, "task.lua"), TASK))
        local reference = name == "a" and of_a or of_b or of_a
        assert(fs.write(fs.join(folder, name, "reference.c"), (reference:gsub("%%s", folder))))
        assert(fs.write(fs.join(folder, name, "solution/kernel.c"), NUMBERED:format(0)))
        for i = 1, 2 do
            assert(fs.write(fs.join(folder, name, ("candidates/%d.c"):format(i)), NUMBERED:format(i)))
        end
    end
    assert(fs.write(fs.join(folder, "short.lua"), POLICY))
    return folder
end

-- A shell in which `start NAME [options]` begins a run in a workspace (its PID is $pid_NAME) and `await NAME` gives
-- its code; `held` returns when a holds the device, `waits` when b waits for it.
local SHELL = [[
export XDG_CACHE_HOME=$PWD/cache
start() {
    name=$1; shift
    (cd $name && exec $ako --device=cpu ../short.lua run "$@" >out 2>err) &
    pid=$!
    eval "pid_$name=$pid"
}
await() { eval "wait \$pid_$1"; echo "$1 $?"; }
alive() { kill -0 $1 2>/dev/null && ! grep -q ') Z ' /proc/$1/stat; }
held() { until test -e inside || ! alive $pid_a; do sleep 0.02; done; }
waits() { until grep -q 'wait: ' b/err || ! alive $pid_b; do sleep 0.02; done; }
holder() { sed -n 's/.*wait: .* is held by pid \([0-9]*\) (ako-worker) since .*/\1/p' b/err; }
parent() { sed 's/.*) . \([0-9]*\) .*/\1/' /proc/$1/stat; }
]]

local function shell(folder, text)
    local result = assert(process.run { "sh", "-c", SHELL .. text, cwd = folder,
        env = { AKO_HOME = t.home, ako = program.path }, limit_ns = 120 * program.second_ns })
    t.ok(not result.timed_out, "it ends: " .. result.stdout .. result.stderr)
    return result
end

-- The spans in which a workspace's run has held the device: { { begin, end }, ... }.
local function spans_of(folder, name)
    local where = fs.join(folder, name)
    local state = session.newest { repo = assert(git.open(where)), folder = fs.absolute(where) }
    local spans = {}
    for i, record in ipairs(state.history) do
        t.eq(record.status, "PASSED")
        t.ok(record.timed_at[1] < record.timed_at[2], "a span")
        spans[i] = record.timed_at
    end
    return spans
end

local function assert_apart(first, second)
    for _, a in ipairs(first) do
        for _, b in ipairs(second) do
            t.ok(a[2] <= b[1] or b[2] <= a[1], ("%d..%d and %d..%d overlap"):format(a[1], a[2], b[1], b[2]))
        end
    end
end

t.test("timed sections of two runs never overlap", function()
    local folder = workspaces(SLOW) -- so that without turns they would overlap
    local r = shell(folder, "start a --candidates candidates; start b --candidates candidates; await a; await b")
    t.eq(r.stdout, "a 0\nb 0\n")
    local a, b = spans_of(folder, "a"), spans_of(folder, "b")
    t.eq(#a, 3)
    t.eq(#b, 3)
    assert_apart(a, b)
end)

t.test("a build ends while another run holds the device; then its run waits and names the holder", function()
    local folder = workspaces(HELD, FREE)
    -- A run waits when it has built, and says so before the other one is let go.
    local r = shell(folder, "start a; held; start b; waits; echo parent $(parent $(holder)) $pid_a; "
        .. "test -e go || echo held; touch go; await a; await b")
    local parent, expected = r.stdout:match("^parent (%d+) (%d+)\n")
    t.eq(parent, expected)
    t.match(r.stdout, "\nheld\na 0\nb 0\n$")
    -- What a held was the look at its task; between that and its trial b may have its turn.
    assert_apart(spans_of(folder, "a"), spans_of(folder, "b"))
end)

-- Its name stays in the lock's file.
t.test("a holder that is killed frees the device, be it the evaluator or the program above it", function()
    for victim, code in pairs { ["$(holder)"] = 125, ["$pid_a"] = 137 } do
        local folder = workspaces(HELD, FREE)
        local r = shell(folder, ('start a; held; start b; waits; test -n "$(holder)" && echo waits; kill -9 %s; '
            .. "await b; await a"):format(victim))
        t.eq(r.stdout, "waits\nb 0\na " .. code .. "\n")
        t.eq(#spans_of(folder, "b"), 1)
    end
end)

t.test("a run started by a script whose own trial holds the device comes to its turn", function()
    local folder = workspaces(FREE)
    local given = assert(task.resolve(assert(task.load(fs.join(folder, "a"))), "cpu"))
    local numbers = assert(plan.resolve(load("return {" .. NUMBERS .. "}")(), given))
    local inner
    local e <close> = assert(evaluator.start { device = "cpu", progress = function(event)
        if event.step == "check" and not inner then
            inner = shell(folder, "start b; await b")
        end
    end })
    assert(e:task(given, numbers.tolerance, numbers.reference))
    local sources = assert(unit.read(given.folder, given.solution.files))
    local result = assert(e:trial(assert(unit.make(given, given.solution, sources, given.reference)),
        { "build", "check", "time" }, numbers.steps))
    t.eq(result.status, "PASSED")
    t.eq(inner and inner.stdout, "b 0\n")
    assert_apart({ result.timed_at }, spans_of(folder, "b"))
end)

-- Runs with a proposer that are interrupted or killed, and what a proposer starts itself: with real processes.
local fs = require "ako.fs"
local program = require "program"
local proposing = require "proposing"
local scripted = require "scripted"
local t = require "ako.tap"

local state, verdicts, holds = proposing.state, proposing.verdicts, proposing.holds

-- $drive FOLDER COMMAND is a run on the scripted evaluator.
for _, name in ipairs { "scripted", "proposing" } do
    program.write(name .. ".lua", assert(fs.read(t.home .. "/tests/lua/" .. name .. ".lua")))
end
program.write("drive.lua", [[
local proposing = require "proposing"
local r = proposing.run(arg[2] ~= "" and arg[2] or nil, { folder = arg[1], verb = arg[3],
    console = require "ako.console", policy = { budget = proposing.budget { no_ops = 1 } } })
require("ako.tap").leave(r.code)
]])

-- A shell in which `drive ... &` is that and $1 the folder; `until_there FILE` waits for a file of the folder.
local function shell(folder, text)
    return program.shell(('set -- "%s"; drive() { exec "$ako" drive.lua "$@"; }\n'
        .. 'until_there() { n=0; while [ ! -e "$f/$1" ]; do sleep 0.05; n=$((n + 1)); [ $n -lt 200 ] || exit 99; done\n'
        .. '}\nf=$1\n%s'):format(folder, text))
end

local AT_WORK = "'echo $$ > pid; setsid sleep 1000 > /dev/null 2>&1 & echo $! > daemon; edit time=10; "
    .. "touch at-work; sleep 1000'"

local function pid_of(folder, name) return fs.read(folder .. "/" .. name):match("%d+") end

local function nothing_runs(folder)
    for _, name in ipairs { "pid", "daemon" } do
        local stat = fs.read(("/proc/%s/stat"):format(pid_of(folder, name)))
        t.ok(not stat or stat:match("%) (%a)") == "Z", name .. " is gone")
    end
end

t.test("Ctrl-C while a proposer works: 130, the best is back, its edit is kept, nothing of it runs on", function()
    for _, signal in ipairs { "INT", "TERM" } do
        local folder = scripted.task_folder "time=100"
        local r = shell(folder, ([[env --default-signal=INT "$ako" drive.lua "$f" %s & pid=$!
            until_there at-work; kill -%s $pid; wait $pid]]):format(AT_WORK, signal))
        t.eq(r.code, 130)
        t.match(r.stderr, "proposal 1 was interrupted; the best is back, its edit is kept: refs/ako/")
        holds(folder, "time=100")
        nothing_runs(folder)
        local known = state(folder)
        t.eq({ #known.history, known.proposing, known.finished }, { 1 })
        t.eq(known.repo:read(("refs/ako/%s/proposals/1"):format(known.name), "solution/kernel.c"),
            scripted.source "time=10")
    end
end)

t.test("Ctrl-C when there is much to make good: the best is back all the same", function()
    local folder = scripted.task_folder "time=100"
    local r = shell(folder, [[env --default-signal=INT "$ako" drive.lua "$f" 'mv solution old; mkfifo solution
            touch at-work; sleep 1000' & pid=$!
        until_there at-work; kill -INT $pid; wait $pid]])
    t.eq(r.code, 130)
    t.match(r.stderr, "the best is back, its edit is kept: [^\n]*/proposals/1.left/solution\n")
    holds(folder, "time=100")
    t.eq(state(folder).proposing, nil)
end)

t.test("kill -9 while a proposer works: the next start ends what it left running and brings the best back", function()
    for _, verb in ipairs { "run", "try" } do
        local folder = scripted.task_folder "time=100"
        local r = shell(folder, ([[drive "$f" %s & pid=$!
            until_there at-work; kill -9 $pid; wait $pid 2> /dev/null
            state() { sed 's/.*) //; s/ .*//' "/proc/$(cat "$f/daemon")/stat" 2> /dev/null || echo none; }
            cat "$f/solution/kernel.c"; echo "daemon $(state)"
            "$ako" drive.lua "$f" "" %s && echo "daemon $(state)"]]):format(AT_WORK, verb))
        local before, after = r.stdout:match("^(.-\ndaemon [SR])\n(.*)\ndaemon [nZ]%a*\n$")
        t.ok(before, r.stdout .. r.stderr)
        t.eq(before:match("^(.*)daemon"), scripted.source "time=10")
        t.match(r.stderr, "session     [^\n]*: proposal 1 was interrupted; the best is back, its edit is kept: "
            .. "refs/ako/[^\n]*/proposals/1\n")
        t.match(after, "trial 0[^\n]*PASSED, median 100.0 us")
        holds(folder, "time=100")
    end
end)

t.test("resume goes on with the same command after a kill", function()
    local folder = scripted.task_folder "time=100"
    local r = shell(folder, [[drive "$f" 'case $AKO_PROPOSAL in 1) edit time=50;; 2) edit time=10; touch at-work
            sleep 1000;; 3) edit time=25;; esac' & pid=$!
        until_there at-work; kill -9 $pid; wait $pid 2> /dev/null
        "$ako" drive.lua "$f" "" resume]])
    t.match(r.stderr, "proposal 2 was interrupted; the best is back")
    t.eq(r.code, 0, r.stderr)
    t.eq(verdicts(folder), { "keep PASSED", "keep PASSED", "keep PASSED" })
    holds(folder, "time=25")
    t.eq(state(folder).best.candidate, "proposal 3")
end)

t.test("kill -9 between a proposal's trial and the next proposal loses nothing", function()
    local folder = scripted.task_folder "time=100"
    shell(folder, [[drive "$f" 'case $AKO_PROPOSAL in 1) edit time=50;; *) touch at-work; sleep 1000;; esac' & pid=$!
        until_there at-work; kill -9 $pid; wait $pid 2> /dev/null]])
    t.eq(verdicts(folder), { "keep PASSED", "keep PASSED" })
    proposing.run("true", { folder = folder })
    holds(folder, "time=50")
end)

t.test("a shell of a killed run's proposer is told so where it starts another run", function()
    local folder = scripted.task_folder "time=100"
    shell(folder, [[drive "$f" 'touch at-work; trap "" TERM; until [ -e go ]; do sleep 0.05; done
            "$ako" drive.lua "$AKO_WORKSPACE" true > "$AKO_WORKSPACE/said" 2>&1; touch done' & pid=$!
        until_there at-work; kill -9 $pid; wait $pid; touch "$f/go"; sleep 0.5]])
    t.ok(not fs.exists(folder .. "/said"), "the command itself dies with its run")
    local known = state(folder)
    local r = assert(require("ako.process").run { program.path, "drive.lua", folder, "true", cwd = program.folder,
        env = { AKO_HOME = t.home, AKO_RECORDS = known.folder, AKO_PROPOSAL = "1" } })
    t.match(r.stderr, "^ako%-lua: this shell belongs to a proposer whose run has been killed; end it, then start "
        .. "again\n$")
    t.eq(r.code, 125)
end)

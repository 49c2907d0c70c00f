-- The proposers of examples/proposers, and what a proposer may ask of the program itself: on a real evaluator where
-- something is measured, with small workloads.
local fs = require "ako.fs"
local program = require "program"
local proposing = require "proposing"
local t = require "ako.tap"
local trial = require "ako.trial"

local EXAMPLES = t.home .. "/examples/"

program.write("quick.lua", [[
local kernelbench = require "policies.kernelbench"
local rules = require "ako.rules"
return kernelbench:extend { name = "quick", description = "few launches; keeps what is right, however long it takes",
  correctness = { trials = 1, weak = "warn" },
  timing = { pairs = false, screen = false, launches = 20, warmup = 2, seconds = 0 },
  accept = rules.faster_by(-0.99) }
]])

-- An example as a workspace of its own, with other workloads.
local function workspace(name, workloads)
    for _, file in ipairs { "task.lua", "reference.c", "reference.cu", "solution/kernel.c", "solution/kernel.cu" } do
        program.write(name .. "/" .. file, assert(fs.read(EXAMPLES .. name .. "/" .. file)))
    end
    local text = fs.read(fs.join(program.folder, name) .. "/task.lua")
    program.write(name .. "/task.lua", (text:gsub("cpu = %b{},?(\n? *},)", "cpu = " .. workloads .. "%1", 1)))
    return fs.join(program.folder, name)
end

-- On a busy machine a time may be refused, of code that is right all the same.
local function is_right(record)
    t.ok(record.status == "PASSED" or trial.is_unmeasured(record.status), record.status .. ": " .. record.reason)
end

local function candidates_of(folder)
    local list = {}
    for i, record in ipairs(proposing.state(folder).history) do list[i] = record.candidate end
    return list
end

t.test("recipes.sh: the edits of a list, each on the best, until the list ends", function()
    local folder = workspace("rmsnorm", "{ { B = 64, D = 4096 }, { B = 7, D = 4095 } }")
    local r = program.run("quick.lua", "--workspace", folder, "--device=cpu", "--propose=" .. EXAMPLES
        .. "proposers/recipes.sh")
    t.eq(r.code, 0, r.stderr)
    t.match(r.stdout, "ended: 3 proposals in a row without a change to try, the last one: it left the solution as")
    local known = proposing.state(folder)
    t.eq(candidates_of(folder), { "baseline", "proposal 1", "proposal 2", "proposal 3" })
    is_right(known.history[2])
    if known.history[2].status ~= "PASSED" then t.skip "the machine is too busy for a time to be believed" end
    t.eq(known.history[2].verdict, "keep")
    t.eq({ known.history[2].hypothesis, known.history[2].predict },
        { "a sum that may be split lets the compiler use vectors for it", 100 })
    for i = 3, 4 do is_right(known.history[i]) end
    local second = known.repo:read(known.history[3].commit, "solution/kernel.c")
    t.match(second, "float scale = 1.0f / sqrtf%(sum / %(float%)D %+ eps%);\n")
    t.match(second, "optimize%(\"associative%-math\"")
    t.match(fs.read(known.folder .. "/trials/2/proposer.log"), "\nrecipe 2, on top of trial 1\n")
    t.eq(fs.read(folder .. "/solution/kernel.c"), known.repo:read(known.best.commit, "solution/kernel.c"))
end)

t.test("sweep.lua: a function of the policy proposes one factor after the other", function()
    local folder = workspace("relu", "{ { N = 65536 } }")
    local r = program.run("--seed=1", EXAMPLES .. "proposers/sweep.lua", "check")
    t.eq(r.code, 0, r.stderr)
    local text = assert(fs.read(EXAMPLES .. "proposers/sweep.lua"))
    program.write("sweep.lua", (text:gsub('require "policies.kernelbench"', 'require "quick"')))
    r = program.run("sweep.lua", "--workspace", folder, "--device=cpu")
    t.eq(r.code, 0, r.stderr)
    t.match(r.stdout, "ended: all factors are tried\n")
    t.eq(candidates_of(folder), { "baseline", "unroll 2", "unroll 4", "unroll 8", "unroll 16" })
    local known = proposing.state(folder)
    for _, record in ipairs(known.history) do is_right(record) end
    local last = known.repo:read(known.history[5].commit, "solution/kernel.c")
    t.match(last, "\n    #pragma GCC unroll 16\n    for %(int i")
end)

t.test("a proposer may look and take notes; what would start a trial or change the session is refused", function()
    local folder = workspace("relu", "{ { N = 65536 } }")
    program.write("ask.sh", [[
for verb in "try -m mine" run "keep 0 -m x" "revert 0 -m x" resume "finish -m x" init \
    status brief log "show 0" "note -m later --topic=idea"; do
    echo "== $verb"
    "$AKO_LUA" "$AKO_POLICY" $verb
    echo "exit $?"
done > "answers.$AKO_PROPOSAL" 2>&1
[ "$AKO_PROPOSAL" = 1 ] && echo '// changed' >> "$AKO_SOLUTION"
]])
    local before = fs.read(folder .. "/solution/kernel.c")
    local r = program.run("quick.lua", "--workspace", folder, "--device=cpu", "--session=asked", "--propose=sh "
        .. program.folder .. "/ask.sh")
    t.eq(r.code, 0, r.stderr)
    local text = fs.read(folder .. "/answers.1")
    local function answer(verb) return text:match("== " .. verb:gsub("%p", "%%%0") .. "\n(.-)\nexit (%d+)\n") end
    for _, verb in ipairs { "try -m mine", "run", "keep 0 -m x", "revert 0 -m x", "resume", "finish -m x", "init" } do
        local said, code = answer(verb)
        t.eq(said, ("ako-lua: the run that wants this proposal is at work in %s: exit with 0, and it will try the edit")
            :format(folder), verb)
        t.eq(code, "125")
    end
    for _, verb in ipairs { "status", "brief", "log", "show 0", "note -m later --topic=idea" } do
        t.eq(select(2, answer(verb)), "0", verb)
    end
    local known = proposing.state(folder)
    t.eq(known.name, "asked")
    t.eq({ #known.history, known.history[2].no_effect }, { 2, true })
    t.eq({ known.notes[1].text, known.notes[1].topic, #known.notes }, { "later", "idea", 4 })
    t.ok(known.finished ~= nil, "the run came to its end")
    t.eq(fs.read(folder .. "/solution/kernel.c"), before)
end)

-- Coding agents: stand-ins that look at how they are called.

-- Runs an example with a program of this name in PATH, whose text is a shell script.
local function with_stand_in(name, text, example)
    local bin = t.tmpdir()
    assert(fs.write(bin .. "/" .. name, "#!/bin/sh\n" .. text))
    assert(require("ako.process").run { "chmod", "+x", bin .. "/" .. name })
    return proposing.run(('PATH="%s:$PATH" "%sproposers/%s" --model tiny'):format(bin, EXAMPLES, example))
end

local EDIT = [[
[ "$AKO_PROPOSAL" = 1 ] || exit 0
printf '// script: time=50\nvoid scale(void);\n' > "$AKO_SOLUTION"
]]

local function is_tried(r)
    t.eq(r.code, 0, r.stderr)
    t.eq(proposing.verdicts(r.folder), { "keep PASSED", "keep PASSED" })
    local record = proposing.state(r.folder).history[2]
    t.eq({ record.hypothesis, record.predict }, { "Loads of 16 bytes need fewer instructions.", 40 })
    proposing.holds(r.folder, "time=50")
end

t.test("claude.sh: print mode, edits accepted, the brief on standard input, the last words the hypothesis", function()
    local r = with_stand_in("claude", [[
[ "$1" = -p ] || { echo "no -p"; exit 9; }
case $2 in *"$AKO_SOLUTION_FILES"*"trial was $AKO_LAST_TRIAL ($AKO_STATUS"*) ;; *) echo "asked: $2"; exit 9;; esac
shift 2
[ "$*" = "--permission-mode acceptEdits --allowedTools Read,Edit,Glob,Grep --model tiny" ] || { echo "$*"; exit 9; }
cmp - "$AKO_BRIEF" || exit 9
]] .. EDIT .. [[
printf 'Loads of 16 bytes need fewer instructions.\n\npredict: 40 %%\n'
]], "claude.sh")
    is_tried(r)
    t.match(fs.read(proposing.state(r.folder).folder .. "/trials/1/proposer.log"), "predict: 40 %%\n$")
end)

t.test("codex.sh: workspace sandbox, request and brief on standard input, the last message the hypothesis", function()
    local r = with_stand_in("codex", [[
[ "$*" = "exec --sandbox workspace-write --output-last-message $AKO_HYPOTHESIS_FILE --model tiny -" ] ||
    { echo "$*"; exit 9; }
cat > asked
grep -qF "$AKO_SOLUTION_FILES" asked && tail -c "$(wc -c < "$AKO_BRIEF")" asked | cmp - "$AKO_BRIEF" || exit 9
rm asked
]] .. EDIT .. [[
printf 'Loads of 16 bytes need fewer instructions.\npredict: 40 %%' > "$AKO_HYPOTHESIS_FILE"
]], "codex.sh")
    is_tried(r)
end)

t.test("an agent that fails, or is not there, is no proposal, with its last words", function()
    for _, name in ipairs { "claude", "codex" } do
        local r = with_stand_in(name, "cat > /dev/null; echo 'Credit balance is too low' >&2; exit 1\n", name .. ".sh")
        t.match(r.stderr, "not tried %(1 of 3 in a row%): exit 1: Credit balance is too low\n")
        r = proposing.run(('PATH=/usr/bin:/bin "%sproposers/%s.sh"'):format(EXAMPLES, name))
        t.match(r.stderr, "not tried %(1 of 3 in a row%): exit 127: [^\n]*not found\n")
    end
end)


-- The verbs that look back: log, show. They see what any trial left, whatever its verdict, and write nothing.
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local process = require "ako.process"
local scripted = require "scripted"
local t = require "ako.tap"
local trial = require "ako.trial"
local verbs = require "ako.verbs"

-- Code, stdout and stderr of a verb in a folder.
local function call(folder, verb, operands, options, host)
    local ctx = scripted.context(folder, host, options)
    ctx.operands = operands or {}
    local code = verbs[verb](ctx)
    return code, ctx.console.stdout, ctx.console.stderr
end

local function object_of(folder, verb, operands, options)
    local code, text, problem = call(folder, verb, operands, options, { json = true })
    t.eq({ code, problem, select(2, text:gsub("\n", "")) }, { 0, "", 1 })
    return assert(json.decode(text))
end

local function try(folder, script, options)
    assert(fs.write(folder .. "/solution/kernel.c", scripted.source(script)))
    return call(folder, "try", nil, options, { session = "s" })
end

-- Four trials: the baseline, one that is kept, one that is not, one that does not compile.
local function story()
    local folder = scripted.task_folder "time=100"
    t.eq(call(folder, "try", nil, nil, { session = "s" }), 0)
    t.eq(try(folder, "time=50", { message = "vector loads", predict = 40.0, label = "v" }), 0)
    t.eq(try(folder, "time=80", { message = "unroll", predict = 10.0 }), 1)
    t.eq(try(folder, "status=COMPILE_ERROR reason=kernel.c:3:no", { message = "half" }), 10)
    return folder
end

-- All that a session's folder and the workspace hold.
local function snapshot(folder)
    local found = assert(process.run { "sh", "-c", "find . -type f ! -name index.json | sort | xargs sha1sum",
        cwd = folder })
    return found.stdout
end

t.test("log: a line for each trial, the newest last", function()
    local folder = story()
    local before = snapshot(folder)
    local code, text = call(folder, "log")
    t.eq(code, 0)
    t.match(text, "^trial  verdict +status +median +gain +predicted  what and why\n    0  keep ")
    t.match(text, "  the tree as it is: baseline[^\n]*\n    1 ")
    t.match(text, '\n    1  keep +PASSED +50.00 us +%+100.0 %% +%+40.0 %%  "vector loads": ')
    t.match(text, '\n    2  revert +PASSED +80.00 us +%-37.5 %% +%+10.0 %%  "unroll": ')
    t.match(text, '\n    3  revert +COMPILE_ERROR +%- +%- +%-  "half": kernel.c:3:no\n$')
    t.eq(select(2, text:gsub("\n", "")), 5)
    t.match(select(2, call(folder, "log", nil, { last = 1 })), '^trial[^\n]*\n    3  [^\n]*\n$')
    t.eq(snapshot(folder), before, "nothing is written")
end)

t.test("status says what the next try does: it goes on, but not where the baseline failed", function()
    local folder = scripted.task_folder "status=COMPILE_ERROR reason=kernel.c:3:no"
    t.eq(call(folder, "try"), 10)
    t.match(select(2, call(folder, "status")),
        "\nopen, but its baseline failed: the next `try` begins a new session\n$")
    local first = object_of(folder, "status").session
    t.eq(try(folder, "time=50"), 0)
    t.eq(object_of(folder, "status", nil, { session = "s" }).trials, 0)
    t.ok(first ~= "s")
end)

t.test("log --json has the names of try --json", function()
    local folder = story()
    local object = object_of(folder, "log", nil, { last = 3 })
    t.eq({ object.v, object.session, #object.trials, object.notes }, { 1, "s", 3, nil })
    local entry = object.trials[1]
    t.eq({ entry.trial, entry.verdict, entry.status, entry.hypothesis, entry.predict, entry.gain, entry.label },
        { 1, "keep", "PASSED", "vector loads", 40.0, 100.0, "v" })
    t.eq({ entry.speedup.best, entry.time_ns.median, #entry.tree, #entry.commit }, { 2.0, 50000, 40, 40 })
end)

t.test("a gain is what reasons and predictions call faster, with pairs too: half the time is 100 %", function()
    local record = { trial = 1, speedup = { best = 2.0 }, interval = { best = { 1.9, 2.1 } }, paired = { gain = 0.5 } }
    t.eq(trial.gain(record), 100.0)
    local interval = trial.gain_interval(record)
    t.ok(math.abs(interval[1] - 90) < 1e-9 and math.abs(interval[2] - 110) < 1e-9)
    t.eq({ trial.gain { trial = 0, speedup = { best = 1.0 } }, trial.gain { trial = 1, speedup = {} } }, {})
end)

t.test("log --notes puts notes behind the trials that they are about", function()
    local folder = story()
    t.eq(call(folder, "note", { 1 }, { message = "half the\nbytes", topic = "analysis" }), 0)
    local _, text = call(folder, "log", nil, { notes = true })
    t.match(text, '"vector loads": [^\n]*\n       note: %[analysis%] half the bytes\n    2 ')
    t.ok(not select(2, call(folder, "log")):find("half the"), "only where they are wanted")
    t.eq(object_of(folder, "log", nil, { notes = true }).notes[1].topic, "analysis")
end)

t.test("show: everything of a trial, also of a reverted one and after a collection of garbage", function()
    local folder = story()
    call(folder, "note", { 2 }, { message = "registers spill" })
    local gc = assert(process.run { "git", "-C", folder, "gc", "--quiet", "--prune=now" })
    t.ok(gc.ok, gc.stderr)
    local code, text = call(folder, "show", { 2 }, { source = true })
    t.eq(code, 0)
    t.match(select(2, call(folder, "diff", { 2 })), "\n%+// script: time=80\n")
    t.match(text, "^trial 2: revert, PASSED\nwhat +\"unroll\"\nreason +[^\n]+\n")
    t.match(text, "\ngain +predicted %+10.0 %%, measured %-37.5 %% %(%-37.6 %% to %-37.4 %%%) against trial 1")
    t.match(text, "\ntime +median 80.00 us [^\n]*, timer wall\n")
    t.match(text, "\nspeedup +1.25x over the original [^\n]*, 2.50x over the reference, 0.625x over the best before ")
    t.match(text, "\nworkload +N=64: PASSED, median 80.00 us, ")
    t.match(text, "\nchange +1 file, %+1 %-1 against trial 1\ntree +%x+\ncommit +%x+, refs/ako/s/2\n")
    t.match(text, "\nfiles +.git/ako/s/trials/2\n")
    t.match(text, "\nnote +registers spill\n")
    t.match(text, "\n%-%-%- solution/kernel.c\n// script: time=80\nvoid scale%(void%);\n$")
    local object = object_of(folder, "show", { 2 }, { source = true })
    local repo = assert(git.open(folder))
    t.eq({ object.trial, object.change.against, object.change.to, object.ref }, { 2, 1,
        repo:resolve("refs/ako/s/2"), "refs/ako/s/2" })
    t.eq(object.sources, { { name = "solution/kernel.c", text = scripted.source("time=80") } })
    t.eq(object.notes[1].text, "registers spill")
    t.match(select(2, call(folder, "show", { 0 })), "\nchange +%d file[^\n]* against what the session began on\n")
    local broken = select(2, call(folder, "show", { 3 }))
    t.match(broken, "^trial 3: revert, COMPILE_ERROR\n")
    t.eq(broken:find("\nworkload[^\n]*: *\n"), nil, "a workload that was not reached says so")
end)

t.test("diff: what a trial changed, against what it was judged by or any other; the patch can be applied", function()
    local folder = story()
    local code, patch, problem = call(folder, "diff", { 2 })
    t.eq({ code, problem }, { 0, "" })
    t.match(patch, "^diff %-%-git a/solution/kernel.c b/solution/kernel.c\n")
    t.match(patch, "\n%-// script: time=50\n%+// script: time=80\n")
    t.match(select(2, call(folder, "diff", { 2, 0 })), "\n%-// script: time=100\n%+// script: time=80\n")
    t.eq(select(2, call(folder, "diff", { 2 }, { stat = true })),
        "M solution/kernel.c\ntrial 2 against trial 1: 1 file, +1 -1\n")
    t.match(select(2, call(folder, "diff", { 3 })), "\n%-// script: time=50\n%+// script: status=COMPILE_ERROR")
    t.match(select(2, call(folder, "diff", { 0 })), "\n%+// script: time=100\n")
    assert(fs.write(folder .. "/p.patch", patch))
    local applied = assert(process.run { "git", "apply", "p.patch", cwd = folder })
    t.ok(applied.ok, applied.stderr)
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source("time=80"))
    t.eq({ call(folder, "diff", { 2, 2 }) }, { 0, "", "trial 2 is the same as trial 2\n" })
    local object = object_of(folder, "diff", { 2 })
    t.eq({ object.trial, object.against, object.insertions, object.changes[1].path, object.patch },
        { 2, 1, 1, "solution/kernel.c", patch })
    t.eq({ call(folder, "diff", { 2, 9 }) }, { 2, "", "ako-lua: session s has no trial 9; it has 0 to 3\n" })
end)

t.test("report: the whole session, as text, as Markdown and as JSON", function()
    local folder = story()
    call(folder, "note", { 1 }, { message = "a | b", topic = "idea" })
    t.eq(call(folder, "keep", { 2 }, { message = "steadier" }), 0)
    local code, text = call(folder, "report")
    t.eq(code, 0)
    t.match(text, "^session s\ntask +scale, policy plain, on Scripted CPU\nbegan +%d[%d-]+ [%d:]+ UTC, at work for %d+ "
        .. "s\nended +not yet\nworkspace +/[^\n]+\nrecords +/[^\n]+/.git/ako/s\nbranch +ako/s\n")
    t.match(text, "\nbaseline +trial 0, the tree as it is, median 100.0 us [^\n]*, 2.00x over the reference[^\n]*, com")
    t.match(text, "\nbest +trial 2, \"unroll\", median 80.00 us [^\n]*, 1.25x over the original %([^\n]*%), 2.50x ov")
    t.match(text, "\ntrials +3 beside the baseline: 2 kept, 1 reverted, 0 inconclusive\n")
    t.match(text, "\npredictions 2: predicted %+25.0 %%, measured %+31.2 %% in the mean; right about faster or slower")
    t.match(text, "\ntrial  verdict [^\n]*\n    0  keep ")
    t.match(text, "\n\nFailures\n  COMPILE_ERROR, 1 trial: 3 %(kernel.c:3:no%)\n")
    t.match(text, "\nOverrides by hand\n  trial 2: keep, [^\n]* UTC: steadier\n")
    t.match(text, "\nNotes\n  trial 1: %[idea%] a | b\n$")
    local object = object_of(folder, "report")
    t.eq({ object.best.trial, object.baseline.trial, #object.trials, object.overrides[1].trial, object.finished },
        { 2, 0, 4, 2, json.null })
    text = select(2, call(folder, "report", nil, { markdown = true }))
    t.match(text, "^# Session s\n\n%- %*%*task%*%*: scale, policy plain, on Scripted CPU\n")
    t.match(text, "\n## Trials\n\n| trial | verdict | status | median | gain | predicted | what and why |\n| %-%-%- |")
    t.match(text, '\n| 3 | revert | COMPILE\\_ERROR | %- | %- | %- | "half": kernel.c:3:no |\n')
    t.match(text, "\n## Notes\n\n%- trial 1: \\%[idea\\%] a \\| b\n$")
end)

t.test("report of a finished session has what its end has measured", function()
    local folder = story()
    t.eq(call(folder, "finish", nil, { message = "enough" }), 0)
    local _, text = call(folder, "report")
    t.match(text, "\nended +enough\n")
    t.match(text, "\nverified +median 50.00 us\n")
    t.eq(object_of(folder, "report").finished.verified.trial, 1)
end)

t.test("status tells what was predicted and measured last", function()
    local folder = story()
    t.eq(try(folder, "time=90", { message = "a third idea", predict = 5.0 }), 1)
    t.match(select(2, call(folder, "status")), "\nlast: trial 4 %(a third idea%): PASSED, [^\n]*; revert; predicted "
        .. "%+5.0 %%, measured %-44.4 %%\nopen: `try` goes on with it\n$")
end)

t.test("a trial that is not there, no session, no repository: one clear line", function()
    local folder = story()
    local code, text, problem = call(folder, "show", { 7 })
    t.eq({ code, text, problem }, { 2, "", "ako-lua: session s has no trial 7; it has 0 to 3\n" })
    code, text, problem = call(folder, "log", nil, nil, { session = "t" })
    t.eq({ code, text, problem }, { 2, "", "ako-lua: there is no session 't' here; there are: s\n" })
    for i = 1, 6 do t.eq(call(folder, "note", nil, { message = "x" }, { session = "s" .. i }), 0) end
    t.eq(select(3, call(folder, "log", nil, nil, { session = "t" })),
        "ako-lua: there is no session 't' here; the last of 7: s2, s3, s4, s5, s6\n")
    local empty = scripted.task_folder "time=100"
    for _, verb in ipairs { "log", "show" } do
        code, text, problem = call(empty, verb, { 0 })
        t.eq({ code, text, problem }, { 2, "", ("ako-lua: no session in %s yet; `run` or `try` starts one\n"):format(
            fs.absolute(empty)) })
        t.ok(not fs.exists(empty .. "/.git"), "nothing is made")
    end
    for _, place in ipairs { "/nowhere-here", folder .. "/task.lua" } do
        t.eq({ call(place, "log") }, { 2, "", ("ako-lua: there is no folder %s\n"):format(place) })
    end
end)

t.test("a source cannot speak to the terminal through show", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder, "time=100 \27]0;mine\7\u{202e}\r\n\tend"), 0)
    local _, text = call(folder, "show", { 0 }, { source = true })
    t.match(text, "time=100 \\x1B%]0;mine\\x07\\u{202E}\n\tend")
    t.eq(text:find "[\27\7\r]", nil)
    local ctx = scripted.context(folder, { session = "s" })
    ctx.operands = { 0 }
    t.eq(verbs.diff(ctx), 0)
    t.match(ctx.console.stdout, "\27%]0;mine\7", "for git apply")
    ctx.console.stdout = ""
    function ctx.console.is_terminal() return true end
    t.eq(verbs.diff(ctx), 0)
    t.match(ctx.console.stdout, "time=100 \\x1B%]0;mine\\x07")
    t.eq(ctx.console.stdout:find "[\27\7\r]", nil)
end)

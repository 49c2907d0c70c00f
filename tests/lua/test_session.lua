-- Sessions: what they write, what they leave alone, and what a kill leaves behind.
local fs = require "ako.fs"
local git = require "ako.git"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local function workspace(script)
    local folder = scripted.task_folder(script or "time=100")
    return { folder = fs.absolute(folder), repo = assert(git.init(folder)),
        task = { name = "scale", solution = { files = { "solution/kernel.c" } } } }
end

local function record_of(opened, verdict)
    return { session = opened.name, trial = opened.open.trial, status = "PASSED", verdict = verdict, reason = "why",
        speedup = {}, interval = {}, workloads = {}, costs_ms = {}, time_ns = { median = 1000 } }
end

local function edit(ws, text) assert(fs.write(ws.folder .. "/solution/kernel.c", text)) end
local function present(ws) return fs.read(ws.folder .. "/solution/kernel.c") end

t.test("attempts and kept trials are commits on refs of their own", function()
    local ws = workspace()
    local opened = assert(session.create(ws, "one", { task = "scale" }))
    assert(opened:begin {})
    local baseline = assert(opened:close_trial(record_of(opened, "keep"), {}))
    edit(ws, "second")
    assert(opened:begin { hypothesis = "an idea" })
    local kept = assert(opened:close_trial(record_of(opened, "keep"), {}))
    edit(ws, "third")
    local intent = assert(opened:begin {})
    assert(opened:close_trial(record_of(opened, "revert"), {}))
    assert(opened:publish())
    t.eq(opened:restore(intent.commit), true)
    t.eq(present(ws), "second")
    local names = {}
    for i, ref in ipairs(ws.repo:refs "refs/*") do names[i] = ref.name end
    t.eq(names, { "refs/ako/one/0", "refs/ako/one/1", "refs/ako/one/2", "refs/heads/ako/one" })
    local log = ws.repo:log "refs/heads/ako/one"
    t.eq(#log, 2)
    t.eq({ log[1].tree, log[2].tree }, { kept.tree, baseline.tree })
    t.match(log[1].message, "^%[trial 1%] ")
    t.eq(ws.repo:read("refs/ako/one/2", "solution/kernel.c"), "third")
    t.eq(ws.repo:head().unborn, true)
    opened:close()
end)

t.test("the user's HEAD, branch, index and other files stay as they are", function()
    local ws = workspace()
    local tree = assert(ws.repo:tree(nil, { "." }))
    local commit = assert(ws.repo:commit { tree = tree, parents = {}, message = "mine", ref = "refs/heads/main" })
    assert(fs.write(ws.folder .. "/notes.txt", "uncommitted"))
    local mine = "// my uncommitted work\n" .. scripted.source "time=90"
    edit(ws, mine)
    local before = ws.repo:status()
    t.eq(verbs.run((scripted.context(ws.folder))), 0)
    t.eq(ws.repo:head().oid, commit)
    t.eq(ws.repo:head().ref, "refs/heads/main")
    t.eq(ws.repo:status(), before)
    t.eq(fs.read(ws.folder .. "/notes.txt"), "uncommitted")
    local state = session.newest(ws)
    t.eq(ws.repo:read(state.original.commit, "solution/kernel.c"), mine)
    t.eq(ws.repo:log(state.original.commit)[2].oid, commit)
end)

t.test("a kill between intent and record: INFRA, and the best is back", function()
    local ws = workspace()
    local opened = assert(session.create(ws, "killed", { task = "scale" }))
    assert(opened:begin {})
    assert(opened:close_trial(record_of(opened, "keep"), {}))
    edit(ws, "half tried")
    assert(opened:begin { candidate = "a.c" })
    opened:close()

    local state = assert(session.read(ws.repo, "killed"))
    t.eq(state.open.trial, 1)
    local again = assert(session.resume(ws, state))
    t.eq(again.repaired, 1)
    t.eq(again.history[2].status, "INFRA")
    t.eq(again.history[2].reason, "interrupted")
    t.eq(present(ws), scripted.source "time=100")
    again:close()
    t.eq(assert(session.read(ws.repo, "killed")).open, nil)
end)

t.test("a kill between a candidate's arrival and its intent: the best is back, once", function()
    local ws = workspace()
    local opened = assert(session.create(ws, "placed", { task = "scale" }))
    assert(opened:begin {})
    assert(opened:close_trial(record_of(opened, "keep"), {}))
    assert(opened:place "half arrived")
    opened:close()
    t.eq(present(ws), "half arrived")
    local again = assert(session.resume(ws, assert(session.read(ws.repo, "placed"))))
    t.eq(present(ws), scripted.source "time=100")
    t.eq(#again.history, 1)
    again:close()
    t.eq(assert(session.read(ws.repo, "placed")).placed, nil)
end)

t.test("a kill between record and branch: the branch follows", function()
    local ws = workspace()
    local opened = assert(session.create(ws, "torn", { task = "scale" }))
    assert(opened:begin {})
    local kept = assert(opened:close_trial(record_of(opened, "keep"), {}))
    opened:close()
    local function tree_of_branch()
        local again = assert(session.resume(ws, assert(session.read(ws.repo, "torn"))))
        again:close()
        local log = ws.repo:log "refs/heads/ako/torn"
        t.eq(#log, 1)
        return log[1].tree
    end
    t.eq(tree_of_branch(), kept.tree)
    assert(ws.repo:delete_ref "refs/heads/ako/torn") -- as a kill between the line and the ref
    t.eq(tree_of_branch(), kept.tree)
end)

t.test("a new run first repairs what a killed one left", function()
    local ws = workspace()
    local opened = assert(session.create(ws, "killed", { task = "scale" }))
    assert(opened:begin {})
    assert(opened:close_trial(record_of(opened, "keep"), {}))
    edit(ws, scripted.source "time=1")
    assert(opened:begin { candidate = "a.c" })
    opened:close()
    local ctx = scripted.context(ws.folder)
    t.eq(verbs.run(ctx), 0)
    t.match(ctx.console.stderr, "killed: trial 1 was interrupted; the best is back")
    t.eq(session.newest(ws).original.time_ns.median, 100000)
end)

t.test("an edit of the user's that a killed try left unjudged stays, and the next try judges it", function()
    local ws = workspace()
    t.eq(verbs.try(scripted.context(ws.folder)), 0)
    local opened = assert(session.resume(ws, session.newest(ws)))
    edit(ws, scripted.source "time=1")
    assert(opened:begin { hypothesis = "faster" })
    opened:close()
    local ctx = scripted.context(ws.folder)
    t.eq(verbs.try(ctx), 0)
    t.match(ctx.console.stderr, "trial 1 was interrupted; its files stay as they are, try again")
    t.eq(present(ws), scripted.source "time=1")
    local history = session.newest(ws).history
    t.eq(#history, 3)
    t.eq(history[3].verdict, "keep")
end)

t.test("files that somebody else changed are not overwritten", function()
    local ws = workspace()
    local opened = assert(session.create(ws, "guard", { task = "scale" }))
    assert(opened:begin {})
    assert(opened:close_trial(record_of(opened, "keep"), {}))
    edit(ws, "tried")
    local intent = assert(opened:begin {})
    assert(opened:close_trial(record_of(opened, "revert"), {}))
    edit(ws, "the user's own")
    local restored, message, code = opened:restore(intent.commit)
    t.fails("kernel.c", restored, message, code)
    t.eq(code, "BUSY")
    t.eq(present(ws), "the user's own")
    opened:close()
end)

t.test("a torn last line is dropped, damage elsewhere is refused with its line", function()
    local ws = workspace()
    local opened = assert(session.create(ws, "story", { task = "scale" }))
    assert(opened:begin {})
    assert(opened:close_trial(record_of(opened, "keep"), {}))
    opened:close()
    local file = ws.repo:commondir() .. "/ako/story/journal.jsonl"
    local whole = fs.read(file)
    assert(fs.write(file, whole .. '{"kind":"int'))
    t.eq(#assert(session.read(ws.repo, "story")).history, 1)
    assert(fs.write(file, (whole:gsub('"kind":"intent"', '"kind":intent"', 1))))
    t.fails("jsonl:2: damaged", session.read(ws.repo, "story"))
    local ctx = scripted.context(ws.folder)
    t.eq(verbs.status(ctx), 125)
    t.match(ctx.console.stderr, "^ako%-lua: session story cannot be read: [^\n]*jsonl:2: damaged[^\n]*\n$")
end)

-- The journal of a session "old" of one finished run, changed by a function of its text; and its workspace.
local function with_damage(change)
    local ws = workspace()
    t.eq(verbs.run((scripted.context(ws.folder, { session = "old" }))), 0)
    local file = ws.repo:commondir() .. "/ako/old/journal.jsonl"
    assert(fs.write(file, change(assert(fs.read(file)))))
    return ws, file
end

local function first_line_gone(text) return (text:gsub("^[^\n]*", "nonsense", 1)) end
local function later_line_gone(text) return (text:gsub("\n[^\n]*\n", "\nnonsense\n", 1)) end

t.test("the newest session that cannot be read is neither passed over nor replaced unasked", function()
    for line, change in ipairs { first_line_gone, later_line_gone } do
        for _, verb in ipairs { "try", "run", "status" } do
            local ws = with_damage(change)
            local ctx = scripted.context(ws.folder)
            t.eq(verbs[verb](ctx), 125, verb)
            t.match(ctx.console.stderr, "session[^\n]* old,? cannot be read: [^\n]*jsonl:" .. line .. ": damaged")
            t.eq(session.names(ws.repo), { "old" })
            if verb ~= "status" then
                t.match(ctx.console.stderr, "%-%-session=NAME starts another one\n$")
                t.eq(verbs[verb]((scripted.context(ws.folder, { session = "new" }))), 0)
            end
        end
    end
end)

t.test("an older damaged session, or that of another workspace, stops nobody", function()
    local ws, file = with_damage(function(text)
        return later_line_gone((text:gsub('"time_s":%d+', '"time_s":5', 1)))
    end)
    t.eq(verbs.run((scripted.context(ws.folder, { session = "new" }))), 0)
    local ctx = scripted.context(ws.folder)
    t.eq(verbs.status(ctx), 0)
    t.match(ctx.console.stderr, "^left out: [^\n]*jsonl:2: damaged")
    t.match(ctx.console.stdout, "session new: ")
    t.eq(verbs.try((scripted.context(ws.folder))), 0)
    local text = assert(fs.read(file)):gsub('"workspace":"[^"]*"', '"workspace":"/elsewhere"', 1)
    assert(fs.write(file, (text:gsub('"time_s":5', '"time_s":99999999999', 1))))
    t.eq(verbs.status((scripted.context(ws.folder))), 0)
end)

t.test("a journal that is a pipe is a damaged session, not one to wait for", function()
    local ws, file = with_damage(function(text) return text end)
    assert(fs.remove_tree(file))
    t.eq(assert(require("ako.process").run { "mkfifo", file }).code, 0)
    for _, verb in ipairs { "status", "try", "run" } do
        local ctx = scripted.context(ws.folder)
        t.eq(verbs[verb](ctx), 125, verb)
        t.match(ctx.console.stderr, "session[^\n]* old,? cannot be read: [^\n]*/journal.jsonl is no regular file")
    end
end)

t.test("a session whose first line lost what it protects takes no trial for its own", function()
    local ws = workspace()
    t.eq(verbs.try((scripted.context(ws.folder, { session = "old" }))), 0)
    local file = ws.repo:commondir() .. "/ako/old/journal.jsonl"
    assert(fs.write(file, (fs.read(file):gsub('"protected":', '"x":', 1))))
    local ctx = scripted.context(ws.folder)
    t.eq(verbs.try(ctx), 13)
    t.match(ctx.console.stdout, "protected file [^\n]* changed")
end)

t.test("lines that are JSON and no records of ours are damage, with their line", function()
    local changes = {
        { '"verdict":"keep"', '"verdict":"maybe"', "3: damaged: trial: 'verdict' is 'maybe', none of keep, revert" },
        { '"verdict":"keep"', '"verdict":7', "3: damaged: trial: 'verdict' is a number instead of a text" },
        { '"trial":0,"v":1,"verdict"', '"trial":"0","v":1,"verdict"', "'trial' is a string instead of a whole number" },
        { '"trial":0,"v":1,"verdict"', '"trial":0.5,"v":1,"verdict"', "'trial' is a number with a fraction" },
        { '"trial":0,"v":1,"verdict"', '"trial":-1,"v":1,"verdict"', "'trial' is %-1, less than 0" },
        { '"workloads":%[', '"workloads":null,"x":[', "3: damaged: trial: 'workloads' is a null instead of a list" },
        { '"workloads":%[', '"x":[', "3: damaged: trial: 'workloads' is missing" },
        { '"workloads":%[', '"workloads":[7],"x":[', "'workloads%[1%]' is a number instead of an object" },
        { '"weight":[%d.]+', '"weight":"1"', "'workloads%[1%].weight' is a string" },
        { '"status":"PASSED"', '"status":[]', "'[%w%[%].]*status' is a table instead of a text" },
        { '"costs_ms":', '"costs":', "3: damaged: trial: 'costs_ms' is missing" },
        { '"time_s":', '"time_s":"x","y":', "1: damaged: session: 'time_s' is a string" },
        { '"commit":', '"comit":', "2: damaged: intent: 'commit' is missing" },
        { '"device":{', '"device":7,"x":{', "1: damaged: session: 'device' is a number" },
    }
    for _, entry in ipairs(changes) do
        local ws = with_damage(function(text)
            local changed, count = text:gsub(entry[1], entry[2], 1)
            t.eq(count, 1, entry[1])
            return changed
        end)
        for _, verb in ipairs { "status", "simulate" } do
            local ctx = scripted.context(ws.folder, { session = "old" })
            t.eq(verbs[verb](ctx), 125, entry[2])
            t.match(ctx.console.stderr, "^ako%-lua: [^\n]*journal.jsonl:%d+: [^\n]*\n$")
            t.match(ctx.console.stderr, entry[3])
        end
    end
end)

-- A session of a baseline, kept trials 1 and 2, and a reverted 3.
local function with_trials(name)
    local ws = workspace()
    local opened = assert(session.create(ws, name or "hand", { task = "scale" }))
    for n, verdict in ipairs { "keep", "keep", "keep", "revert" } do
        edit(ws, "text " .. n - 1)
        assert(opened:begin {})
        assert(opened:close_trial(record_of(opened, verdict), {}))
    end
    assert(opened:publish())
    edit(ws, "text 2")
    return opened, ws
end

-- The same story from the journal as from who wrote it.
local function reread(opened)
    local state = assert(session.read(opened.repo, opened.name))
    t.eq({ state.best.trial, state.kept, state.branch, state.placed },
        { opened.best.trial, opened.kept, opened.branch, opened.placed })
    t.eq(state.history, opened.history)
    return state
end

t.test("notes are lines of the journal, about the last trial or the one that is named", function()
    local opened = assert(session.create(workspace(), "notes", { task = "scale" }))
    t.eq(assert(opened:note { text = "before any" }).trial, nil)
    t.fails("session notes has no trial 0; it has none yet", opened:note { text = "x", trial = 0 })
    assert(opened:begin {})
    t.fails("trial 0 of session notes is still open", opened:note { text = "x", trial = 0 })
    assert(opened:close_trial(record_of(opened, "keep"), {}))
    local line = assert(opened:note { text = "bad \xFF byte", topic = "idea", file = "p.txt", hash = "abc" })
    t.eq({ line.trial, line.after }, { 0 })
    t.fails("session notes has no trial 7; it has trial 0", opened:note { text = "x", trial = 7 })
    t.fails("a note needs words", opened:note { text = " \n" })
    assert(opened:note { file = "p.txt", hash = "abc" })
    t.eq(reread(opened).notes, opened.notes)
    t.eq(opened.notes[2].text, "bad \\xFF byte")
    t.eq(#opened.notes, 3)
    assert(opened:begin {})
    assert(opened:close_trial(record_of(opened, "revert"), {}))
    t.eq({ opened:note { text = "of old", trial = 0 }.after, opened:note({ text = "of now" }).after }, { 1 })
    opened:close()
end)

t.test("an override changes the best, the branch and the files, and the journal says why", function()
    local opened, ws = with_trials()
    local branch = "refs/heads/ako/hand"
    local kept = ws.repo:resolve(branch)
    local done = assert(opened:override(3, "keep", "it is simpler"))
    t.eq({ done.record.trial, done.before.trial, done.best.trial, done.left_alone }, { 3, 2, 3 })
    t.eq(present(ws), "text 3")
    t.eq(ws.repo:read(branch, "solution/kernel.c"), "text 3")
    t.eq(ws.repo:log(branch)[2].oid, kept, "nothing of the branch is rewritten")
    t.match(ws.repo:log(branch)[1].message, "^%[override%] keep trial 3: it is simpler\n")
    local record = reread(opened).history[4]
    t.eq({ record.verdict, record.override, record.override_reason }, { "revert", "keep", "it is simpler" })
    t.eq(assert(opened:override(3, "revert", "no, it is not")).best.trial, 2)
    t.eq(present(ws), "text 2")
    t.eq(assert(opened:override(1, "revert", "flattered")).best.trial, 2)
    t.eq(assert(opened:override(2, "revert", "flattered, too")).best.trial, 0)
    t.eq(present(ws), "text 0")
    t.eq(ws.repo:read(branch, "solution/kernel.c"), "text 0")
    t.eq(#reread(opened).overrides, 4)
    edit(ws, "text 4")
    assert(opened:begin {})
    assert(opened:close_trial(record_of(opened, "keep"), {}))
    assert(opened:publish())
    t.eq(ws.repo:log(branch)[2].message, "[override] revert trial 2: flattered, too\n")
    t.eq(reread(opened).best.trial, 4)
    opened:close()
end)

t.test("overrides that mean nothing are refused and leave no line", function()
    local opened = with_trials()
    t.fails("trial 2 is the best already", opened:override(2, "keep", "why"))
    t.fails("trial 3 does not count %(revert%)", opened:override(3, "revert", "why"))
    t.fails("session hand has no trial 4; it has 0 to 3", opened:override(4, "keep", "why"))
    for _, n in ipairs { 0, 1 } do assert(opened:override(n, "revert", "why")) end
    t.fails("trial 1 does not count %(revert by hand%)", opened:override(1, "revert", "why"))
    t.fails("trial 2 is all that there is to go on from", opened:override(2, "revert", "why"))
    t.eq(#reread(opened).overrides, 2)
    opened:close()
end)

t.test("an override leaves edits of the user's alone and says so", function()
    local opened, ws = with_trials()
    edit(ws, "mine")
    t.match(assert(opened:override(1, "keep", "why")).left_alone, "kernel.c")
    t.eq(present(ws), "mine")
    t.eq(reread(opened).best.trial, 1)
    opened:close()
end)

t.test("a kill between an override's line and its files: the next start brings the files", function()
    local opened, ws = with_trials()
    local tip = opened.branch.oid
    assert(opened:override(1, "keep", "why"))
    opened:close()
    local file = ws.repo:commondir() .. "/ako/hand/journal.jsonl"
    assert(fs.write(file, (fs.read(file):gsub('[^\n]*"branch"[^\n]*\n[^\n]*restored[^\n]*\n$', ""))))
    t.match(fs.read(file), '"override"[^\n]*\n$')
    edit(ws, "text 2")
    assert(ws.repo:set_ref("refs/heads/ako/hand", tip))
    local again = assert(session.resume(ws, assert(session.read(ws.repo, "hand"))))
    t.eq(present(ws), "text 1")
    t.eq(ws.repo:read("refs/heads/ako/hand", "solution/kernel.c"), "text 1")
    t.eq({ #again.history, again.cut_off }, { 4, "the override of trial 1" })
    t.eq(reread(again).placed, nil)
    again:close()
end)

t.test("an override or a note of a trial that is not there yet is damage", function()
    for _, line in ipairs { '{"kind":"override","trial":9,"verdict":"keep","reason":"x","v":1}',
        '{"kind":"note","trial":9,"text":"x","v":1}', '{"kind":"override","trial":0,"verdict":"maybe","reason":"x"}',
        '{"kind":"note","text":7}' } do
        local opened, ws = with_trials()
        opened:close()
        local file = ws.repo:commondir() .. "/ako/hand/journal.jsonl"
        assert(fs.write(file, fs.read(file) .. line .. "\n"))
        t.fails("journal.jsonl:13: damaged: ", session.read(ws.repo, "hand"))
    end
end)

t.test("names", function()
    for _, name in ipairs { "a", "gemm-20260101T000000Z", "x_1.y" } do t.ok(session.is_name(name), name) end
    for _, name in ipairs { "", "a/b", "..", "-x", "a.lock", "a..b", "a.", ("n"):rep(101), "a b" } do
        t.ok(not session.is_name(name), name)
    end
    local ws = workspace()
    local opened = assert(session.create(ws, "twice", { task = "scale" }))
    opened:close()
    t.fails("there is a session 'twice' already", session.create(ws, "twice", {}))
end)

t.test("a session that was cut off before its first line is none", function()
    local ws = workspace()
    assert(fs.mkdirs(ws.repo:commondir() .. "/ako/begun"))
    assert(fs.write(ws.repo:commondir() .. "/ako/begun/journal.jsonl", '{"kind":"sess'))
    t.fails("session begun has not begun", session.read(ws.repo, "begun"))
    local newest, damaged = session.newest(ws)
    t.eq(newest, nil)
    t.eq(damaged, {})
    local ctx = scripted.context(ws.folder, { session = "begun" })
    t.eq(verbs.try(ctx), 0)
    t.match(ctx.console.stderr, "session     begun: the last line of its journal was torn and is dropped %(13 bytes%)")
    t.eq(#assert(session.read(ws.repo, "begun")).history, 1)
    ctx = scripted.context(ws.folder, { session = "nope" })
    t.eq(verbs.status(ctx), 2)
    t.eq(ctx.console.stderr, "ako-lua: there is no session 'nope' here; there are: begun\n")
    ctx = scripted.context(ws.folder, { session = "../begun" })
    t.eq(verbs.status(ctx), 2)
    t.match(ctx.console.stderr, "is no name for a session")
end)

t.test("a name that somebody takes meanwhile is not insisted on", function()
    local ws, fresh_name = workspace(), session.fresh_name
    local opened <close> = setmetatable({}, { __close = function() session.fresh_name = fresh_name end })
    local other = assert(session.create(ws, "taken", { task = "scale" }))
    local asked = 0
    function session.fresh_name()
        asked = asked + 1
        return asked < 3 and "taken" or "free"
    end
    t.eq(verbs.run(scripted.context(ws.folder)), 0)
    t.ok(session.read(ws.repo, "free").finished)
    other:close()
    t.ok(opened)
end)

t.test("two at once: the second is refused", function()
    local ws = workspace()
    local opened = assert(session.create(ws, "one", { task = "scale" }))
    local second, message, code = session.resume(ws, assert(session.read(ws.repo, "one")))
    t.fails(".", second, message, code)
    t.eq(code, "BUSY")
    opened:close()
end)

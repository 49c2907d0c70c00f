-- What a user can give wrongly beyond misspelt words: files that are none, candidates that cannot be read, hooks that
-- return nonsense. Each gets one line and the right exit code, and costs nothing else.
local fs = require "ako.fs"
local git = require "ako.git"
local process = require "ako.process"
local program = require "program"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"
local task_files = require "ako.task"
local trial = require "ako.trial"
local unit = require "ako.unit"
local verbs = require "ako.verbs"

local function make_pipe(file) t.eq(assert(process.run { "mkfifo", file }).code, 0) end

local function history_of(folder)
    return session.newest({ repo = assert(git.open(folder)), folder = fs.absolute(folder) }).history
end

-- Of a verb on a folder: exit code and the last line on stderr.
local function outcome(folder, host, verb_options)
    local ctx = scripted.context(folder, host, verb_options)
    local code = verbs.run(ctx)
    return code, ctx.console.stderr:match("([^\n]*)\n$"), ctx
end

t.test("a candidate that cannot be read costs its own trial", function()
    local folder = scripted.task_folder "time=100"
    local candidates = folder .. "/candidates"
    scripted.candidates(folder, { ["1.c"] = "time=50", ["6.c"] = "time=25" })
    make_pipe(candidates .. "/2.c")
    t.eq(assert(process.run { "ln", "-s", "/nowhere", candidates .. "/3.c" }).code, 0)
    assert(fs.write(candidates .. "/4.c", ("\n"):rep((16 << 20) + 1)))
    assert(fs.mkdirs(candidates .. "/5.c"))
    t.eq(outcome(folder, nil, { candidates = candidates }), 0)
    local told = {}
    for i, record in ipairs(history_of(folder)) do told[i] = record.candidate .. " " .. record.status end
    t.eq(told, { "baseline PASSED", "1.c PASSED", "2.c REJECTED", "3.c REJECTED", "4.c REJECTED", "6.c PASSED" })
    t.match(history_of(folder)[3].reason, "2.c: is no plain file$")
    t.match(history_of(folder)[4].reason, "cannot read .*3.c: No such file")
    t.match(history_of(folder)[5].reason, "4.c is larger than 16777216 bytes")
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=25")
end)

t.test("a folder of candidates that is none", function()
    local folder = scripted.task_folder "time=100"
    local code, line = outcome(folder, nil, { candidates = folder .. "/task.lua" })
    t.eq(code, 2)
    t.match(line, "^ako%-lua: cannot list .*task.lua: Not a directory$")
    t.ok(not fs.exists(folder .. "/.git"), "nothing was made for it")
end)

t.test("a protected file that a trial changes ends the run at that trial", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["1.c"] = "time=50", ["2.c"] = "time=40 vandal=1", ["3.c"] = "time=25" })
    local function on_trial(script)
        if script.vandal then fs.remove_tree(folder .. "/reference.c") end
    end
    local _, _, ctx = outcome(folder, { on_trial = on_trial }, { candidates = folder .. "/candidates" })
    local history = history_of(folder)
    t.eq(#history, 3)
    t.eq({ history[3].status, history[3].verdict, history[3].code }, { "REJECTED", "revert", "PROTECTED" })
    t.eq(history[3].reason, "protected file reference.c changed while this ran")
    t.match(ctx.console.stdout, "ended: protected file reference.c changed while this ran")
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=50")
end)

t.test("files of a task that are none", function()
    local folder = scripted.task_folder "time=100"
    for _, name in ipairs { "solution/kernel.c", "reference.c", "task.lua" } do
        fs.remove_tree(folder .. "/" .. name)
        make_pipe(folder .. "/" .. name)
        local code, line = outcome(folder)
        t.eq(code, 2, name)
        t.match(line, name .. "[: ]+is n")
    end
end)

t.test("a source with a NUL byte is the candidate's mistake", function()
    local folder = scripted.task_folder "time=100"
    local task = assert(task_files.resolve(assert(task_files.load(folder)), "cpu"))
    t.fails("^kernel.c: its text has a NUL byte %(byte 5%)",
        unit.make(task, task.solution, { { name = "kernel.c", text = "int \0x;" } }, task.reference))
    assert(fs.write(folder .. "/solution/kernel.c", "int \0x;"))
    t.eq(outcome(folder), 10)
    t.eq(history_of(folder)[1].status, "COMPILE_ERROR")
end)

t.test("an error without a line does not name line 0", function()
    local context = { task = { workloads = {} }, statistic = "mean" }
    local function reason(text)
        return trial.record({ status = "COMPILE_ERROR", reason = text, workloads = {} }, context).reason
    end
    t.eq(reason ":0: undefined reference to 'f'", "undefined reference to 'f'")
    t.eq(reason "kernel.cu:0: no kernel named 'g'; there is f", "kernel.cu: no kernel named 'g'; there is f")
    t.eq(reason "the reference does not compile: a.c:0: why", "the reference does not compile: a.c: why")
    t.eq(reason "the reference does not compile: :0: why", "the reference does not compile: why")
    t.eq(reason "kernel.cu:10: expected ';' at 1:0: or so", "kernel.cu:10: expected ';' at 1:0: or so")
end)

t.test("task files that are no task", function()
    local file = t.tmpdir() .. "/task.lua"
    local function load_text(text)
        assert(fs.write(file, text))
        return task_files.load(file)
    end
    t.fails("task.lua: attempt to load a binary chunk", load_text "\27Lua")
    t.fails("task.lua: raised a table value$", load_text "error {}")
    t.fails("task.lua: why$", load_text "error('why', 0)")
    t.fails("task.lua: needs more than the memory limit %(%-%-memory%-limit%)$",
        load_text "local kept = {} for i = 1, 1e9 do kept[i] = ('x'):rep(1e6) .. i end")
end)

t.test("an axis that is too long for an int is said with the task's name", function()
    local folder = scripted.task_folder "time=100"
    local text = fs.read(folder .. "/task.lua")
    assert(fs.write(folder .. "/task.lua", (text:gsub("N = 64", "N = 1 << 31"))))
    local code, line = outcome(folder)
    t.eq(code, 2)
    t.match(line, "task.lua: reference: 'N' is 2147483648 and does not fit an int; declare its axis i64")
end)

t.test("hooks that return nonsense end the run with exit 4", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["1.c"] = "time=50" })
    local function nonsense(name, ...)
        local results = table.pack(...)
        local hook = function() return table.unpack(results, 1, results.n) end
        local code, line = outcome(folder, { policy = { [name] = hook } }, { candidates = folder .. "/candidates" })
        t.eq(code, 4, name)
        return line
    end
    t.match(nonsense("stop", {}), "hook 'stop' must give its reason in words, gave a table value$")
    t.match(nonsense("stalled", true), "hook 'stalled' must give its reason in words, gave a boolean value$")
    t.match(nonsense("accept", "keep", 3), "hook 'accept' must give its reason in words, gave a number value$")
    t.match(nonsense("admit", false, {}), "hook 'admit' must give its reason in words, gave a table value$")
    for _, results in ipairs { { 3 }, { {}, 3 }, { { {} } } } do
        t.match(nonsense("render", table.unpack(results)), "hook 'render' must return a list of lines and a table")
    end
    t.match(nonsense("render", {}, { when = os.time }), "hook 'render' returned what JSON cannot say: .*function")
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=50")
    local code = outcome(folder, { policy = { accept = function() return "revert", "\xFF\n" end } },
        { candidates = folder .. "/candidates" })
    t.eq(code, 0)
end)

t.test("a task that a hook has made of nothing is the policy's mistake", function()
    for _, value in ipairs { 3, "task", true, {}, { name = "x", tensors = {} } } do
        local folder = t.tmpdir()
        local code, line = outcome(folder, { policy = { find_task = function() return value end } })
        t.eq(code, 4)
        t.match(line, "hook 'find_task' must return a task as ako.task's define makes it, [^\n]*, returned a ")
    end
end)

t.test("a workspace belongs to one run at a time", function()
    local folder = scripted.task_folder "time=100"
    do
        local lock <close> = assert(fs.lock(folder))
        local code, line = outcome(folder)
        t.eq(code, 125)
        t.match(line, "^ako%-lua: the workspace .* is in use by another ako%-lua; wait for it")
        t.ok(lock)
    end
    t.eq(outcome(folder), 0)
    t.eq(outcome(folder), 0)
end)

t.test("a solution behind a link", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["1.c"] = "time=50" })
    assert(fs.copy_file(folder .. "/solution/kernel.c", folder .. "/mine.c"))
    assert(process.run { "ln", "-sf", "../mine.c", folder .. "/solution/kernel.c" })
    local code, line = outcome(folder, nil, { candidates = folder .. "/candidates" })
    t.eq(code, 2)
    t.match(line, "solution/kernel.c is a symbolic link; a solution must be a file of the workspace")
    t.eq(fs.read(folder .. "/mine.c"), scripted.source "time=100")
    assert(process.run { "sh", "-c", "cd $0 && mv solution other && ln -s other solution && mv mine.c other/kernel.c",
        folder })
    code, line = outcome(folder, nil, { candidates = folder .. "/candidates" })
    t.eq(code, 2)
    t.match(line, "bad path 'solution/kernel.c': it leads through a symbolic link")
    t.eq(fs.read(folder .. "/other/kernel.c"), scripted.source "time=100")
end)

t.test("a scratch workspace has a repository of its own, whatever lies above; a plan makes nothing", function()
    local home = t.tmpdir()
    assert(git.init(home))
    program.write("policy.lua", "return require('policies.kernelbench'):extend { timing = { launches = 3 } }")
    local shell = ("HOME=%s XDG_STATE_HOME= $ako policy.lua --device=cpu --task=%s %%s"):format(home,
        scripted.task_folder "time=100")
    t.eq(program.shell(shell:format "plan --workspace=new").code, 0)
    t.ok(not fs.exists(program.folder .. "/new"))
    for _ = 1, 2 do program.shell(shell:format "run") end
    local scratch = home .. "/.local/state/ako-lua/workspaces"
    local names = assert(fs.list(scratch))
    t.eq(#names, 2)
    for _, name in ipairs(names) do t.ok(fs.is_dir(scratch .. "/" .. name .. "/.git")) end
    t.ok(not fs.exists(home .. "/.git/ako"))
end)

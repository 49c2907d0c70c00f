-- Names of files as people type them and as they happen to be: every spelling of a path means the same file, and what
-- cannot be a source's name, or is no file, is said before anything is begun.
local exits = require "ako.exits"
local fault = require "ako.fault"
local fs = require "ako.fs"
local lane = require "lane"
local output = require "ako.output"
local path = require "ako.path"
local problem = require "ako.problem"
local problem_task = require "ako.problem_task"
local process = require "ako.process"
local program = require "program"
local scripted = require "scripted"
local t = require "ako.tap"
local unit = require "ako.unit"
local verbs = require "ako.verbs"

local PROBLEM = "class Model: pass\ndef get_inputs(): return []\n"

-- What is said of --solution=NAME, before any process is started and without a repository being made.
local function refusal_of(name)
    program.write("problem.py", PROBLEM)
    local r = assert(process.run { program.path, "--device=cpu", "--task=problem.py", "--solution=" .. name,
        t.home .. "/policies/kernelbench.lua", "try", cwd = program.folder, env = { AKO_HOME = t.home } })
    t.eq(r.code, 2, name)
    t.ok(not fs.exists(fs.join(program.folder, ".git")), "nothing was begun")
    return r.stderr
end

t.test("a path's spelling is the shortest with its meaning", function()
    for given, wanted in pairs { ["./mine.py"] = "mine.py", ["sub//x.py"] = "sub/x.py", ["./sub/./x.py"] = "sub/x.py",
        ["sub/../x.py"] = "sub/../x.py", ["../x.py"] = "../x.py", ["."] = ".", ["./"] = ".", ["/"] = "/",
        ["//a/"] = "/a", [""] = "", ["-x"] = "-x" } do t.eq(path.shortest(given), wanted) end
end)

t.test("a name that a source cannot have is refused, and why", function()
    for name, why in pairs { ["a'b.py"] = "has ' in it", ["a$b.py"] = "has %$ in it", ["a\nb.py"] = "has a line break",
        ["-b.py"] = "begins with a dash", ["./-b.py"] = "begins with a dash", ["a\xffb.py"] = "is not UTF%-8 %(byte 2%)"
    } do
        assert(fs.write(fs.join(program.folder, name), "x = 1\n"))
        t.match(refusal_of(name), "^ako%-lua: %-%-solution [^\n]*: its name " .. why .. "[^\n]*: rename it\n$")
    end
    t.fails("^a'b.c: its name has ' in it: rename it$",
        unit.make({}, {}, { { name = "a'b.c", text = "" } }))
    t.eq(path.fault_of_name(("a"):rep(201)), "is longer than 200 bytes")
    t.eq(path.fault_of_name "é x-(1).py", nil)
end)

t.test("what lies there and is no file is said to be what it is", function()
    program.fresh()
    assert(fs.mkdirs(program.folder .. "/folder.py"))
    program.shell "ln -s nowhere link.py; ln -s self.py self.py; mkfifo pipe.py"
    for name, why in pairs { ["folder.py"] = "is a folder, not a file", ["link.py"] = "is a symbolic link to nothing",
        ["self.py"] = "is a symbolic link to nothing", ["pipe.py"] = "is no plain file" } do
        t.eq(refusal_of(name), ("ako-lua: --solution %s %s\n"):format(name, why))
    end
    t.match(refusal_of "nothing.py", "no such file in the current folder")
    t.fails("folder.py: is a folder, not a file$", path.read_source(program.folder .. "/folder.py"))
end)

-- What is wrong with a problem, found before anything is asked of an evaluator.
local function problem_fault(file)
    return select(2, fault.catch(problem_task.resolve, { place = "cpu" }, problem.load(file), {}))
end

t.test("a problem whose bytes are no UTF-8 is refused by file and byte", function()
    local folder = t.tmpdir()
    for name, text in pairs { ["a.py"] = "x\xff", ["b.py"] = "x\0", ["c\xff.py"] = "x", ["d'.py"] = "x" } do
        assert(fs.write(fs.join(folder, name), text))
    end
    t.eq(problem_fault(folder .. "/a.py"), "a.py: its text is not UTF-8 (byte 2): save it as UTF-8")
    t.eq(problem_fault(folder .. "/b.py"), "b.py: its text has a NUL byte (byte 2): save it as UTF-8")
    t.eq(problem_fault(folder .. "/c\xff.py"), "c\xff.py: its name is not UTF-8 (byte 2): rename it")
    t.eq(problem_fault(folder .. "/d'.py"), "d'.py: its name has ' in it: rename it")
    local odd = folder .. "/o\xff"
    assert(fs.mkdirs(odd))
    assert(fs.write(odd .. "/a.py", "x"))
    local _, at = utf8.len(odd)
    t.match(problem_fault(odd .. "/a.py"), ("this path is not UTF%%-8 %%(byte %d%%): rename the folder$"):format(at))
end)

t.test("a problem whose process, or whose evaluator, somebody has killed is not at fault", function()
    local file = t.tmpdir() .. "/a.py"
    assert(fs.write(file, "x"))
    local loaded = problem.load(file)
    local function ask(code, is_there)
        local evaluator = { place = "cpu", describe = function() return nil, "it was killed by SIGKILL", code end,
            is_there = function() return is_there end }
        local _, why, got = fault.catch(problem_task.resolve, evaluator, loaded, {})
        t.match(why, "a.py: [%w ]+: it was killed by SIGKILL$")
        return exits.of_code(got)
    end
    t.eq(ask("KILLED", true), exits.UNMEASURED)
    t.eq(ask("CHILD", false), exits.UNMEASURED)
    t.eq(ask("CHILD", true), exits.USAGE, "it has ended its process itself")
end)

t.test("an answer in JSON holds any bytes of paths as escapes", function()
    local said
    local ctx = { console = { out = function(text) said = text return true end } }
    output.object(ctx, { path = "a\xff", list = { "b\xfe", 1, { x = "ok" } } })
    t.eq(said, [[{"list":["b\\xFE",1,{"x":"ok"}],"path":"a\\xFF"}]] .. "\n")
end)

t.test("all spellings of a solution's path mean the file in this workspace", function()
    lane.need()
    program.fresh()
    local text = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n"
    program.write("problem.py", text .. "def get_inputs():\n    return [torch.rand(8)]\n")
    program.write("mine.py", text)
    program.write("sub/good.py", text)
    local policy = t.home .. "/policies/kernelbench.lua"
    for _, words in ipairs { { "./problem.py", "./mine.py" }, { "problem.py", "sub//good.py" },
        { ".//problem.py", "./sub/good.py", "--workspace=./" } } do
        local r = program.run("--device=cpu", "--task=" .. words[1], "--solution", words[2], words[3] or "-q", policy,
            "init")
        t.eq({ r.code, r.stderr:match("repository of its own") }, { 0 }, words[2] .. ": " .. r.stderr)
    end
end)

t.test("so do all spellings in a task file", function()
    local folder = scripted.task_folder "time=100"
    local file = folder .. "/task.lua"
    assert(fs.write(file, (fs.read(file):gsub('"solution/kernel.c"', '"./solution//kernel.c"'))))
    t.eq(verbs.run(scripted.context(folder)), 0)
end)

-- Everything before the first trial: the task, the evaluator, the workspace, the plan. Undone by `close`.

local bench = require "ako.bench"
local command = require "ako.command"
local console = require "ako.console"
local contract = require "ako.contract"
local drawing = require "ako.drawing"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local host = require "ako.host"
local inputs = require "ako.inputs"
local litter = require "ako.litter"
local loop = require "ako.loop"
local path = require "ako.path"
local pick = require "ako.pick"
local plan = require "ako.plan"
local problem_task = require "ako.problem_task"
local problems = require "ako.problem"
local progress = require "ako.progress"
local protect = require "ako.protect"
local python = require "ako.python"
local rendering = require "ako.rendering"
local repair = require "ako.repair"
local screen = require "ako.screen"
local session = require "ako.session"
local task_files = require "ako.task"
local tightening = require "ako.tightening"
local toolkit = require "ako.toolkit"
local tune = require "ako.tune"
local widening = require "ako.widening"
local workspace = require "ako.workspace"

local start = {}

local Start = {}
Start.__index = Start

local must = fault.must

-- A problem in Python needs one even where nothing is measured: what it asks for is known only once it has run.
local function new_evaluator(ctx, report, in_python)
    local begin = not in_python and ctx.stand_in or ctx.start_evaluator or require("ako.evaluator").start
    return begin { device = ctx.host.device, python = ctx.python, progress = function(event) report:event(event) end }
end

local function tensor_views(tensors)
    local views = {}
    for i, tensor in ipairs(tensors or {}) do
        local dims = {}
        for k, tree in ipairs(tensor.dims) do dims[k] = tree.text end
        views[i] = { name = tensor.name, dtype = tensor.dtype, dims = dims, role = tensor.role }
    end
    return views
end

-- A bundled policy by its name; a user's own by its path as seen from the workspace.
local function policy_name(ctx, folder)
    if not ctx.path or not folder or ctx.file ~= ctx.path then return ctx.file end
    return protect.name(ctx.path, folder)
end

-- What a policy's hooks see before there is a run: { workspace (absolute; nil for a new scratch folder), task (once it
-- is loaded: name, file, folder, solution, from (where its first content lies, nil: there), reference, inputs,
-- tensors, bench (its command in words)), policy (what the program is given for it there), read(path) -> text or nil,
-- exists(path) }; paths are of the workspace.
local function survey(self)
    local folder = self.ws and self.ws.folder or fs.absolute(self.host.workspace or ".")
    local facts = { workspace = folder, policy = policy_name(self.ctx, folder) }
    if self.task then
        folder = self.ws and folder or workspace.plan(self.host, self.task, self.bundled)
        local inputs_of = {}
        for _, tensor in ipairs(self.task.tensors or {}) do
            inputs_of[#inputs_of + 1] = tensor.init and tensor.init.file or nil
        end
        facts.workspace = folder
        facts.task = { name = self.task.name, file = self.task.file, folder = self.task.folder, inputs = inputs_of,
            tensors = tensor_views(self.task.tensors),
            solution = { table.unpack(self.task.solution.files) },
            from = self.task.solution.from and { table.unpack(self.task.solution.from) },
            reference = { table.unpack(self.task.reference and self.task.reference.files or {}) },
            bench = self.task.bench and bench.text(self.task.bench) }
    end
    function facts.read(name) return folder and (fs.read(fs.join(folder, name))) or nil end
    function facts.exists(name) return folder ~= nil and fs.exists(fs.join(folder, name)) end
    return facts
end

-- The task of a policy that can make one where none is named and no task.lua lies: nil, or a fault with its question.
local function made_by_policy(self)
    if not self.policy.find_task then return nil end
    local made, question = self.hook("find_task", survey(self), self.opt)
    if made == nil and question ~= nil then fault.raise("INVALID", "%s", tostring(question)) end
    if made and not problems.is_loaded(made) and not task_files.is_definition(made) then
        fault.raise("POLICY", "hook 'find_task' must return a task as ako.task's define makes it, or a problem as "
            .. "ako.problem's load does, or nil and a question, returned a %s value", type(made))
    end
    return made
end

-- Which of a robust-kbench task's settings the policy's options ask for.
local function multi_of(self)
    local names = self.policy.correctness.multi or {}
    return { init = self.opt[names.init], input = self.opt[names.input] }
end

--- The definition of the task. Sets .bundled where it is the bundled example, .made where the policy has made it.
--- Raises faults.
function Start:find_task()
    local file, bundled = workspace.find_task(self.host, self.ctx.home or host.home)
    local made = bundled and made_by_policy(self)
    self.made = made ~= nil and made ~= false
    if self.made then return made end
    self.bundled = bundled
    local dims = self.host.dims and must(contract.dims(self.host.dims))
    if problems.is_problem(file) then
        return problems.load(file, self.host.solution, { dims = dims, multi = multi_of(self) })
    end
    fault.check(not dims, "option --dims is for a task in Python; %s has its sizes in its workloads", file)
    fault.check(not self.host.solution, "option --solution is for a task in Python; %s names its solution itself", file)
    return must(task_files.load(file))
end

-- The task for the evaluator's place. A problem in Python is run once to see what it asks for.
local function resolve_task(self, definition)
    if not definition.problem then return must(task_files.resolve(definition, self.evaluator.place)) end
    self.progress:note("problem     " .. definition.file .. ": run once to see its inputs and outputs")
    local how = drawing.how(self.policy, self.opt, self.host.seed)
    local task = problem_task.resolve(self.evaluator, definition, how)
    for _, note in ipairs(problem_task.notes(task)) do self.progress:note("problem     " .. note) end
    return task
end

-- The benchmark command of the user's own that the policy knows of; nil: the task's.
local function bench_of_policy(self)
    local given = self.policy.bench and self.hook("bench", survey(self), self.opt)
    if given == false and self.policy.bench then return nil end
    return given and bench.read(given, "hook 'bench'") or self.task.bench
end

--- Loads the task and starts the evaluator that says which of its forms to take. ctx: policy, opt, host (task,
--- workspace, device, session, seed, quiet, color), verb_options; and for tests home (holds the bundled examples),
--- hook(name, ...) (calls a hook of the policy), start_evaluator, console; and for verbs that measure nothing stand_in,
--- which starts what stands where an evaluator would. Raises faults.
function start.new(ctx)
    if ctx.host.session then session.check_name(ctx.host.session) end
    ctx = pick.going_on(ctx)
    local self = setmetatable({ ctx = ctx, host = ctx.host, policy = ctx.policy, opt = ctx.opt }, Start)
    self.hook = ctx.hook or function(name, ...) return require("ako.policy").call(ctx.policy, name, ...) end
    local definition = self:find_task()
    self.progress = progress.new { quiet = ctx.host.quiet, color = ctx.host.color, console = ctx.console or console }
    if definition.problem then ctx.python = python.facts(ctx.host.python) end
    self.evaluator = must(new_evaluator(ctx, self.progress, definition.problem))
    self.task = resolve_task(self, definition)
    self.task.bench = bench_of_policy(self)
    if self.bundled then self.candidates = fs.join(self.task.folder, "candidates") end
    return self
end

-- What was read must be what is hashed: what was changed for the moment of reading, and then put back, would else
-- decide unseen. So nobody may have written to it since this program began.
local function check_read(self)
    local folder = self:folder()
    local names = folder and self.policy.protected or nil
    local _, marks = protect.hashes(self.task, folder or self.task.folder, self.ctx.path, names)
    local written = self.ctx.started_ns and protect.written_since(marks, self.ctx.started_ns)
    if written then
        fault.raise("PROTECTED", "protected file %s was written to while it was being read; try again",
            format.utf8(written))
    end
    self.marks = folder and marks or nil
end

-- The solution's main file as it lies there, or will; "" where there is none.
local function main_text(self)
    local folder = self:folder()
    local own = folder and fs.read(fs.join(folder, self.task.solution.files[1]))
    return own or workspace.first_text(self.task, 1) or ""
end

--- Resolves the policy's numbers for the task, reads the reference and asks for the policy's own plan, which may have
--- a question. Makes nothing. Raises faults.
function Start:resolve()
    self.plan = must(plan.resolve(self.policy, self.task, self.host.seed, self.opt))
    must(inputs.check(self.task))
    self.own_lines = self:own_plan()
    check_read(self)
    local advice = self.task.facts and toolkit.advice(self.task.facts, main_text(self), toolkit.nvcc)
    if advice then self.progress:note("toolkit     " .. advice) end
end

-- Who is at work in a workspace, as far as its newest session that somebody holds tells.
local function worker_of(ws)
    local state = session.newest(ws, function(state) return session.holder(ws.repo, state.name) ~= nil end)
    if not state then return "another ako-lua" end
    local id, open = session.holder(ws.repo, state.name), state.open
    local what = open and ("trial %d of session %s is open since %s UTC, in"):format(open.trial, state.name,
        os.date("!%H:%M:%S", open.time_s)) or ("session %s is in the hands of"):format(state.name)
    return ("%s process %d"):format(what, id), id
end

local function refuse_busy(ws)
    local who, id = worker_of(ws)
    if not id then
        fault.raise("BUSY", "the workspace %s is in use by %s; wait for it, or take another --workspace", ws.folder,
            who)
    end
    fault.raise("BUSY", "the workspace %s is in use: %s; wait until that ends, or stop it with `kill %d`",
        ws.folder, who, id)
end

-- Two runs in one workspace would take each other's candidates for the user's work. Where folders cannot be locked, on
-- some network file systems, there is no claim.
local function claim(ws)
    local folder = ws.folder
    local lock, _, code = fs.lock(folder)
    if code == "BUSY" and os.getenv("AKO_WORKSPACE") == folder then
        fault.raise(code, "the run that wants this proposal is at work in %s: exit with 0, and it will try the edit",
            folder)
    elseif code == "BUSY" then
        refuse_busy(ws)
    end
    return lock
end

--- Makes the workspace, which is this process's until `close`, and says what it made. Raises faults.
function Start:prepare()
    self.ws = must(workspace.prepare(self.host, self.task, self.bundled))
    self.claim = claim(self.ws)
    self.task = self.ws.task
    if self.ws.scratch then self.progress:note("workspace   " .. self.ws.folder .. " (new, scratch)") end
    if self.ws.created and not self.ws.scratch then
        self.progress:note("workspace   " .. self.ws.folder .. ": made a git repository")
    end
end

local function scaffold_entry(name, given)
    local entry = type(given) == "string" and { text = given } or given
    if type(entry) ~= "table" or type(entry.text) ~= "string" then
        fault.raise("POLICY", "hook 'scaffold' must return { [path] = text }, or { text, merge, say } for a text; "
            .. "'%s' is neither", tostring(name))
    end
    return entry
end

-- The hook's files, checked, { [path] = { text, merge, say } }.
local function scaffold_of(self)
    local files, entries = self.hook("scaffold", survey(self), self.opt), {}
    if files ~= nil and type(files) ~= "table" then
        fault.raise("POLICY", "hook 'scaffold' must return { [path] = text }, returned a %s value", type(files))
    end
    for name, given in pairs(files or {}) do
        if not path.is_plain(name) then
            fault.raise("POLICY", "hook 'scaffold': '%s' is no file of the workspace", tostring(name))
        end
        entries[name] = scaffold_entry(name, given)
    end
    return entries
end

--- Gives the workspace the policy's files where it lacks them; one that the policy has merged into is replaced. Says
--- which. Returns the paths that were written. Raises faults.
function Start:scaffold()
    if not self.policy.scaffold then return {} end
    local entries, names, written = scaffold_of(self), {}, {}
    for name in pairs(entries) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
        local entry, full = entries[name], fs.join(self.ws.folder, name)
        local missing = not fs.stat(full) -- a link that leads nowhere is somebody's, too
        if missing or (entry.merge and fs.read(full) ~= entry.text) then
            must(fs.mkdirs(fs.dirname(full)))
            must(fs.write(full, entry.text))
            written[#written + 1] = name
            self.progress:note(("scaffold    %s"):format(entry.say or name .. ": made"))
        end
    end
    return written
end

local function tell_torn(self, opened)
    if opened.torn_bytes == 0 then return end
    self.progress:note(("session     %s: the last line of its journal was torn and is dropped (%s)"):format(opened.name,
        format.count(opened.torn_bytes, "byte")))
end

-- Says what a repaired session (ako.session) was saved from.
local function tell_repaired(self, repaired)
    tell_torn(self, repaired)
    if not repaired.cut_off then
        return self.progress:note(("session     %s: was interrupted; its refs are right again"):format(repaired.name))
    end
    self.progress:note(("session     %s: %s was interrupted; %s%s"):format(repaired.name, repaired.cut_off,
        repaired.left_alone or "the best is back",
        repaired.set_aside and ", its edit is kept: " .. repaired.set_aside or ""))
end

-- Of a workspace that this process has for itself.
local function sweep(self)
    if not self.claim then return end
    litter.sweep_beside(self.ws.folder, self.task.solution.files)
    rendering.sweep(self.ws)
end

--- Repairs what killed sessions of this workspace left behind, so that the files are the user's or the best's again.
--- Raises CORRUPT where the newest one cannot be read, for nobody knows then whose the files are, unless a session is
--- named.
function Start:recover()
    sweep(self)
    local repo, lost = self.ws.repo, {} -- sessions that cannot be made good
    local function is_cut_off(state)
        if lost[state.name] then return false end
        if self.claim then repair.sweep(repo, state.name) end
        return repair.is_cut_off(repo, state)
    end
    local state, damaged, broken = session.newest(self.ws, is_cut_off)
    if broken and not self.host.session then
        fault.raise(broken.code, "the newest session here, %s, cannot be read: %s; --session=NAME starts another one",
            broken.name, broken.problem)
    end
    for _, problem in ipairs(damaged) do self.progress:note("session     left out: " .. problem) end
    while state do
        local folder = fs.join(self.ws.repo:commondir(), "ako/" .. state.name)
        if state.proposing then command.stop_leftovers(folder, state.proposing.proposal) end
        if state.open then bench.stop_leftovers(folder, state.open.trial) end
        local repaired, problem, code = session.resume(self.ws, state)
        if not repaired and code == "CORRUPT" and self.host.session and self.host.session ~= state.name then
            self.progress:note("session     left out: " .. problem)
            lost[state.name] = true
        else
            tell_repaired(self, must(repaired, problem, code))
            repaired:close()
        end
        state = session.newest(self.ws, is_cut_off)
    end
end

local function with_clean_names(values)
    local result = {}
    for name, value in pairs(values) do result[format.utf8(name)] = value end
    return result
end

--- The hashes and marks of all that no candidate may change (ako.protect).
function Start:protected()
    local hashes, marks = protect.hashes(self.task, self.ws.folder, self.ctx.path, self.policy.protected)
    return with_clean_names(hashes), with_clean_names(marks)
end

local function tensors_text(task)
    local given, outputs = {}, {}
    for _, tensor in ipairs(tensor_views(task.tensors)) do
        local list = tensor.role == "input" and given or outputs
        list[#list + 1] = ("%s %s(%s)"):format(tensor.name, tensor.dtype, table.concat(tensor.dims, ", "))
    end
    return table.concat(given, ", ") .. " -> " .. table.concat(outputs, ", ")
end

local function cases_text(task)
    local ids = {}
    for i, workload in ipairs(task.workloads) do ids[i] = workload.id end
    return table.concat(ids, " ")
end

--- The session's names of the task and the policy that it has to go on with: { task, policy, interface and cases (nil:
--- the task has its own) }.
function Start:fixed()
    local names = protect.fixed(self.task, self.ws.folder, self.ctx.path)
    for what, name in pairs(names) do names[what] = format.utf8(name) end
    -- A candidate that declares other arguments would change what it is measured against.
    names.interface = self.task.is_declared and tensors_text(self.task) or nil
    names.cases = self.task.is_chosen and cases_text(self.task) or nil -- by the policy's options
    return names
end

--- The facts of the first line of a session that a verb starts, with candidates from `source` (ako.proposer) or none.
function Start:facts(verb, source)
    local device = self.evaluator.device
    local git_of = self.policy.git
    return { verb = verb, proposer = source and source.facts, policy = self.policy.name,
        seed = self.host.seed, task = self.task.name,
        task_file = format.utf8(fs.absolute(self.task.file) or self.task.file),
        dims = self.host.dims, task_made = self.made or nil, protected = (self:protected()), fixed = self:fixed(),
        git = git_of and { branch = git_of.branch, every = git_of.every } or nil,
        device = { id = device.id, name = device.name, uuid = device.uuid, arch = device.arch },
        versions = self.evaluator.versions, python = problem_task.facts_text(self.task) }
end

-- The same for what the evaluator has taken: input files. Returns the marks; nil for a new scratch folder.
local function check_given(self)
    if not self.marks then return nil end
    local _, marks = self:protected()
    local name = protect.difference(with_clean_names(self.marks), marks)
    if name then
        fault.raise("PROTECTED", "protected file %s was written to while it was being read; try again", name)
    end
    return marks
end

--- Gives the evaluator the task and makes the loop over an opened session, of which a run that is resumed was at work
--- for worked_s seconds before. Raises faults.
function Start:loop(opened, worked_s)
    local function give_task(evaluator)
        must(evaluator:task(self.task, self.plan.tolerance, self.plan.reference, self.policy.timing.pairs ~= nil))
        return evaluator
    end
    local original = opened.best and opened.original
    if original and original.tightened then tightening.adopt(self.plan, original.tightened) end
    if original and original.wider then widening.adopt(self.plan, original.wider) end
    give_task(self.evaluator)
    local marks = check_given(self)
    tell_torn(self, opened)
    self.session = opened
    return loop.new { policy = self.policy, opt = self.opt, hook = self.hook, session = opened,
        evaluator = self.evaluator, task = self.task, plan = self.plan, progress = self.progress, worked_s = worked_s,
        protected = function() return self:protected() end, read_marks = marks,
        give_task = function() return give_task(self.evaluator) end,
        restart = function()
            self.evaluator:close()
            self.evaluator = must(new_evaluator(self.ctx, self.progress, self.task.python))
            return give_task(self.evaluator)
        end }
end

local function measure_text(steps, tolerance, place)
    local check = ("%s, %s atol %g rtol %g"):format(format.count(#steps.check.seeds, "check"), tolerance.predicate,
        tolerance.atol, tolerance.rtol)
    local time = steps.time
    local is_cut = time.long and time.long_launches < time.launches
    local cut = is_cut and (" (%d where they take over %g s)"):format(time.long_launches, time.long / 1e9) or ""
    return check, ("%d warm-ups, %d launches%s%s, timer %s"):format(time.warmup, time.launches, cut,
        time.flush and ", cache flushed before each" or "", place == "cpu" and "wall" or time.timer)
end

--- The folder of the workspace; before it is made, where it will be, or nil for a fresh one.
function Start:folder() return self.ws and self.ws.folder or workspace.plan(self.host, self.task, self.bundled) end

--- The tune space of the kernel as it is (ako.tune): its candidates, and a line about them. Nil where there is none, or
--- the policy does not say how large one may be.
function Start:points()
    local numbers, file = self.policy.timing.screen, self.task.solution.files[1]
    if not numbers then return nil end
    local seed = self.host.seed or self.policy.correctness.seed
    local list, total = tune.candidates(main_text(self), fs.basename(file), numbers.points, seed)
    if not list or #list == 0 then return nil end -- lines that are wrong are the baseline's fault, which says so
    local drawn = #list < total - 1 and (", %d of them drawn with seed %d"):format(#list, seed) or ""
    return list, ("%d other points of the tune lines%s"):format(total - 1, drawn)
end

-- How verdicts come about, `count` candidates known.
local function decide_text(policy, opt, count)
    local numbers = plan.pairs(policy, opt)
    local text = "by the policy's rule on figures alone"
    if numbers then
        text = ("looks after %s pairs, threshold %.3g %%, %g s at most"):format(table.concat(numbers.looks, ", "),
            numbers.threshold * 100, numbers.budget / 1e9)
    end
    if not screen.is_wanted(policy, count) then return text end
    local screened = plan.screen(policy, count)
    return ("%d screened in up to %d rounds, then %d at most: %s"):format(count, screened.rounds[#screened.rounds],
        screened.keep, text)
end

--- The policy's own lines of the plan, { { label, value }, ... }, as they were when it was resolved; none without that
--- hook. What it cannot resolve is a fault with its question.
function Start:own_plan()
    if self.own_lines then return self.own_lines end
    if not self.policy.plan then return {} end
    local lines, question = self.hook("plan", survey(self), self.opt)
    if lines == nil and question ~= nil then fault.raise("INVALID", "%s", tostring(question)) end
    for _, line in ipairs(lines or {}) do
        if type(line) ~= "table" or type(line[1]) ~= "string" or type(line[2]) ~= "string" then
            fault.raise("POLICY", "hook 'plan' must return { { label, value }, ... }, all of them texts")
        end
    end
    return lines or {}
end

--- The resolved plan as lines { name, text }, in reading order, for candidates from `source` (ako.proposer) or none.
function Start:plan_lines(source)
    local task, device = self.task, self.evaluator.device
    local count = source and source.list and #source.list or 0
    local check, time = measure_text(self.plan.steps, self.plan.tolerance, task.place)
    local folder = self:folder() or "a new scratch folder"
    local against = self.plan.comparable and "" or " (other kind of device: correctness only, no speed-up)"
    local lines = {
        { "task", ("%s: %s; %s"):format(task.name, tensors_text(task), format.count(#task.workloads, "workload")) },
        { "device", ("%s, %s"):format(device.id, device.name) },
        { "policy", ("%s: %s"):format(self.policy.name, self.policy.description) },
        { "check", check },
        { "time", time },
        { "decide", decide_text(self.policy, self.opt, count) },
        { "reference", ("%s, %s lane%s"):format(task.reference.files[1], self.plan.reference.lane, against) },
        { "solution", ("%s in %s"):format(table.concat(task.solution.files, ", "), folder) },
        { "candidates", source and source.text or "none: the tree as it is" },
    }
    if task.facts then lines[#lines + 1] = { "python", problem_task.facts_text(task) } end
    if task.bench then
        lines[#lines + 1] = { "bench", ("%s; %g s at most, what it says is a claim"):format(bench.text(task.bench),
            bench.seconds(task.bench, self.policy)) }
    end
    if self.session then lines[#lines + 1] = { "session", self.session.name } end
    return lines
end

--- The extension of candidates' files: that of the solution's main file.
function Start:extension() return path.extension(self.task.solution.files[1]) end

local function close(self)
    local opened = self.session
    if opened and opened.lent then opened:take_back() end -- where that fails, the next start says so
    if opened and opened.journal and (opened.open or opened.placed or opened.proposing) then
        local _, problem = fault.catch(repair.session, opened)
        if problem then
            self.progress:note(("session     %s: %s; the next start does the rest: %s"):format(opened.name,
                opened.restored and "the best is back" or "the best is not back yet", problem))
        elseif opened.set_aside then
            tell_repaired(self, opened)
        end
    end
    if opened then opened:close() end
    if self.evaluator then self.evaluator:close() end
    if self.progress then self.progress:close() end
    if self.claim then self.claim:close() end
    self.evaluator = nil
end

--- Stops the evaluator and gives the session back. A trial that is still open was interrupted: it is recorded so and
--- the best restored, whoever presses Ctrl-C meanwhile. Closing twice is fine.
function Start:close() host.undisturbed(close, self) end

Start.__close = Start.close

return start

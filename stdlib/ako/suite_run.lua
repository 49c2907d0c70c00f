-- A folder of problems against a folder of their solutions: what is known already is left out, the rest done by a
-- worker a device (ako.suite_worker, this program once more), and all of it told. No worker's end is the run's: another
-- takes its place, and its problem.

local console = require "ako.console"
local device = require "ako.device"
local exits = require "ako.exits"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local host = require "ako.host"
local json = require "ako.json"
local judging = require "ako.judging"
local process = require "ako.process"
local suite_builder = require "ako.suite_builder"
local suite_records = require "ako.suite_records"
local suite_table = require "ako.suite_table"
local suite_work = require "ako.suite_work"
local suite_worker = require "ako.suite_worker"
local view = require "ako.view"

local suite_run = {}

local Run = {}
Run.__index = Run

local must = fault.must

local SLICE_NS = 50000000 -- of waiting for each of several workers
local MOST_BUILDERS = 8 -- each has a PyTorch of its own in memory
local CORES_A_BUILDER = 2 -- a compiler for the host and one for the device
local MOST_DEATHS = 2 -- of a worker in a row, without a result in between: as many as a pair may cost
local NO_SOLUTION = "NO_SOLUTION" -- the status of a problem that nothing was tried for

-- Beginning

local function write_job(self)
    local ids = json.array {}
    for i, one in ipairs(self.devices) do ids[i] = one.id end
    local claims = fs.join(self.folder, "claims")
    must(fs.remove_tree(claims)) -- of a run before this one
    must(fs.write(fs.join(self.folder, "job.json"), json.encode { v = 1, devices = ids, items = self.items,
        builds = self.builds, total = self.total, claims = claims }))
end

local function note(self, text)
    if not self.ctx.host.quiet then console.err(format.line(text) .. "\n") end
end

local function new(ctx)
    local self = setmetatable(suite_work.look(ctx), Run)
    self.children, self.code = {}, exits.DONE
    must(fs.mkdirs(self.folder))
    local lock, problem, code = fs.lock(self.folder)
    if not lock and code == "BUSY" then
        fault.raise(code, "another run is at work in %s; wait for it, or take another folder with --results",
            ctx.verb_options.results or self.folder)
    end
    self.lock = must(lock, problem, code)
    suite_work.survey(self)
    return self
end

-- Workers

local function start(self, slot, role)
    local command = { fs.join(must(fs.program_dir()), "ako-lua"), env = { AKO_SUITE = self.folder,
        AKO_SUITE_SLOT = tostring(slot), AKO_SUITE_ROLE = role, AKO_HOME = host.home } }
    table.move(self.ctx.arguments, 1, #self.ctx.arguments, 2, command)
    self.children[slot] = { child = must(process.start(command)), role = role, deaths = 0,
        size = suite_records.size(self.folder) }
end

-- What would end a second one in the same way: a wrong word, a policy's mistake, something that the machine lacks.
local HOPELESS = { [exits.USAGE] = true, [exits.POLICY] = true, [exits.LACKING] = true }

-- Another one in the place of a worker that is gone, unless that leads nowhere.
local function replace(self, slot, ended)
    local gone = self.children[slot]
    self.children[slot] = nil
    if ended.ok or gone.role == "build" then return end -- what is not built ahead is built later
    if HOPELESS[ended.code] then
        self.code = ended.code
        return
    end
    local deaths = suite_records.size(self.folder) > gone.size and 1 or gone.deaths + 1
    local after = deaths <= MOST_DEATHS and ": another takes its place" or ""
    note(self, ("worker %d    %s%s"):format(slot, ended.how, after))
    if deaths > MOST_DEATHS then
        self.code = exits.UNMEASURED
        return
    end
    start(self, slot, gone.role)
    self.children[slot].deaths = deaths
end

-- Waits for one of the workers; false when the user wants to stop.
local function await(self, slot, limit_ns)
    local ended, problem, code = self.children[slot].child:wait(limit_ns)
    if code == "TIMEOUT" then return true end
    if code == "CANCELLED" then
        self.children[slot] = nil
        return false
    end
    replace(self, slot, must(ended, problem, code))
    return true
end

local function slots(self)
    local list = {}
    for slot in pairs(self.children) do list[#list + 1] = slot end
    return list
end

-- Until all of so many children have ended; false when the user wants to stop.
local function supervise(self, count, role)
    for slot = 1, count do start(self, slot, role) end
    while next(self.children) do
        local list = slots(self)
        for _, slot in ipairs(list) do
            if not await(self, slot, #list > 1 and SLICE_NS or nil) then return false end
        end
        host.refill()
    end
    return true
end

-- How many builders there are to be: one alone would only do earlier what a worker does.
local function count_builders(self)
    local given = self.ctx.verb_options.builders
    local most = given or math.min(MOST_BUILDERS, must(device.find("cpu")).cores // CORES_A_BUILDER)
    local count = math.min(most, #self.builds)
    return (given or count > 1) and count or 0
end

-- Nothing is timed while compilers run.
local function work(self)
    local builders = count_builders(self)
    if builders > 0 then
        note(self, ("builds      %s ahead, %s"):format(format.count(#self.builds, "solution"),
            format.count(builders, "builder")))
        if not supervise(self, builders, "build") then return false end
    end
    return supervise(self, math.min(#self.devices, #self.items), "work")
end

-- The account

-- The policy's word on what passed: its figures may be too good to be believed.
local function judged(self, record)
    local ctx = self.ctx
    local verdict, reason, failed = judging.judge({ policy = ctx.policy, opt = ctx.opt, hook = ctx.hook,
        session = {} }, record)
    if failed then error(failed, 0) end
    record.verdict = verdict
    if record.status == "PASSED" then record.reason = reason end
    return record
end

local function unsolved() return { status = NO_SOLUTION, reason = "no file is its solution", speedup = {},
    workloads = json.array {} } end

-- All that there is something to say of, in the order of the problems; and how many others.
local function entries_of(self)
    local list, pending = {}, 0
    for _, entry in ipairs(suite_work.entries(self)) do
        if entry.line then
            local record = view.copy(entry.line.record) -- of two equal solutions both have it
            record.candidate = format.utf8(fs.basename(entry.sample.solution))
            entry.record = judged(self, record)
        elseif not entry.sample then
            entry.record = unsolved()
        end
        if entry.record then list[#list + 1] = entry else pending = pending + 1 end
    end
    return list, pending
end

local function is_better(a, b)
    local left, right = a.record, b.record
    if (left.status == "PASSED") ~= (right.status == "PASSED") then return left.status == "PASSED" end
    return (left.speedup.reference or 0) > (right.speedup.reference or 0)
end

-- The best sample of each problem; nil where no problem has several.
local function best_of(entries)
    local best, list = {}, {}
    for _, entry in ipairs(entries) do
        local before = best[entry.item]
        if not before then list[#list + 1] = entry.item end
        if not before or is_better(entry, before) then best[entry.item] = entry end
    end
    if #list == #entries then return nil end
    for i, item in ipairs(list) do list[i] = best[item] end
    return list
end

-- What the policy makes of many results: lines, and members for the JSON object or nil.
local function scores(self, entries)
    local tasks = {}
    for i, entry in ipairs(entries) do tasks[i] = { task = entry.name, record = entry.record } end
    return self.render { tasks = tasks }
end

-- What each failure says of the whole, the one that matters most first.
local KINDS = { { exits.REJECTED, "REJECTED", "REWARD_HACK" },
    { exits.INCORRECT, "INCORRECT_SHAPE", "INCORRECT_DTYPE", "INCORRECT_NUMERICAL" },
    { exits.CRASHED, "RUNTIME_ERROR" }, { exits.BUILD, "COMPILE_ERROR" }, { exits.TIMEOUT, "TIMEOUT" },
    { exits.UNMEASURED, "INVALID_REFERENCE", "UNTRUSTED_TIMING", "UNSTABLE", "INFRA" }, { exits.USAGE, NO_SOLUTION } }

local function code_of(self, entries)
    local seen, unsure = {}, false
    for _, entry in ipairs(entries) do
        seen[entry.record.status] = true
        unsure = unsure or entry.record.verdict == "inconclusive"
    end
    for _, kind in ipairs(KINDS) do
        for i = 2, #kind do
            if seen[kind[i]] then return kind[1] end
        end
    end
    if #self.found.ambiguous > 0 then return exits.USAGE end
    return unsure and exits.INCONCLUSIVE or exits.DONE
end

local function object_of(self, entries, pending)
    local ctx = self.ctx
    local object = { v = 1, task = format.utf8(self.found.top), solution = format.utf8(self.found.from),
        folder = format.utf8(self.folder), results = json.array {}, counts = {}, pending = pending,
        ambiguous = json.array(self.found.ambiguous), unknown = json.array(self.found.unknown) }
    for i, entry in ipairs(entries) do object.results[i] = suite_records.object(entry) end
    for _, one in ipairs(suite_table.counts(entries)) do object.counts[one.status] = one.count end
    local _, members = scores(self, entries)
    if members then object[ctx.policy.name] = members end
    local best = best_of(entries)
    if best then
        local _, of_best = scores(self, best)
        object.best_of = of_best and { [ctx.policy.name] = of_best }
    end
    return object
end

local function append_all(list, more, prefix)
    for _, line in ipairs(more) do list[#list + 1] = (prefix or "") .. line end
end

local function lines_of(self, entries, pending)
    local lines = suite_table.lines(entries)
    lines[#lines + 1] = suite_table.counts_line(entries)
    append_all(lines, (scores(self, entries)))
    local best = best_of(entries)
    if best then append_all(lines, (scores(self, best)), "best of each problem's samples: ") end
    append_all(lines, suite_table.left_out(self.found))
    if pending > 0 then
        lines[#lines + 1] = ("%s not evaluated yet: the same command goes on"):format(format.count(pending, "solution"))
    end
    lines[#lines + 1] = ("in %s: results.jsonl, eval_results.json, table.txt"):format(self.folder)
    return lines
end

local function text_of(lines)
    local list = {}
    for i, line in ipairs(lines) do list[i] = format.line(line) .. "\n" end
    return table.concat(list)
end

local function tell(self)
    self.known = suite_records.read(self.folder)
    local entries, pending = entries_of(self)
    suite_records.write(self.folder, entries)
    must(fs.write(fs.join(self.folder, "table.txt"), text_of(suite_table.full(entries)), true))
    if self.ctx.host.json then
        must(console.out(json.encode(object_of(self, entries, pending)) .. "\n"))
    else
        must(console.out(text_of(lines_of(self, entries, pending))))
    end
    return code_of(self, entries)
end

local function stop(self)
    for _, slot in ipairs(slots(self)) do self.children[slot].child:close() end
    self.children = {}
end

local function conclude(self)
    stop(self)
    local is_to_tell = self.begun and not self.told
    self.told = true
    local code = is_to_tell and tell(self) or exits.DONE
    if self.lock then self.lock:close() end
    self.lock = nil
    return code
end

--- Ends the workers and tells what there is to tell, whoever presses Ctrl-C meanwhile. Closing twice is fine.
function Run:close() return host.undisturbed(conclude, self) end

Run.__close = Run.close

--- Evaluates all that is not known yet and tells the whole; or, in a process that another run has started for that,
--- does its share. `render(run)` is the policy's, as lines and members of the JSON object. Returns the exit code: that
--- of the failure that matters most. Raises faults.
function suite_run.run(ctx, render)
    local job = suite_worker.job()
    if job then return (job.role == "build" and suite_builder or suite_worker).run(ctx, job) end
    local self <close> = new(ctx)
    self.render = render
    write_job(self)
    for _, line in ipairs(suite_work.lines(self)) do note(self, line) end
    self.begun = true
    local is_done = work(self)
    local told = self:close()
    if not is_done then return exits.INTERRUPTED end
    return self.code ~= exits.DONE and self.code or told
end

return suite_run

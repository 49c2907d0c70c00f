---@meta
-- For editors (LuaLS): every function that Lua code can call in ako-lua. tests/lua/test_meta.lua compares it with the
-- sources. Unless something else is said, a function that fails in the outside world returns nil, a message and a code
-- ("NOTFOUND", "IO", ...), and a wrong argument raises.

---@alias ako.Code "ERROR"|"INVALID"|"NOTFOUND"|"EXISTS"|"UNAVAILABLE"|"TIMEOUT"|"CANCELLED"|"IO"|"NOMEM"|"CORRUPT"|"CHILD"|"CUDA"|"BUSY"|"LIMIT"|"EOF"|"COMPILE"|"KILLED"
---@alias ako.Verdict "keep"|"revert"|"inconclusive"
---@alias ako.Status "PASSED"|"INCORRECT_SHAPE"|"INCORRECT_DTYPE"|"INCORRECT_NUMERICAL"|"COMPILE_ERROR"|"RUNTIME_ERROR"|"TIMEOUT"|"INVALID_REFERENCE"|"REJECTED"|"REWARD_HACK"|"UNTRUSTED_TIMING"|"UNSTABLE"|"INFRA"
---@alias ako.Dtype "f64"|"f32"|"f16"|"bf16"|"f8e4m3"|"f8e5m2"|"i64"|"i32"|"i16"|"i8"|"u64"|"u32"|"u16"|"u8"|"bool"

---How time is taken; seconds where nothing else is said.
---@class ako.Timing
---@field warmup? integer
---@field launches? integer
---@field flush? boolean
---@field timer? "auto"|"events"|"cupti"|"wall"
---@field python_timer? "auto"|"events"|"cupti"|"wall"
---@field compiled? string the option that has a Python reference timed under torch.compile too
---@field alpha? number
---@field reference? boolean
---@field statistic? "median"|"mean"|"min"
---@field most? integer
---@field seconds? number
---@field long? { seconds: number, launches: integer }|false
---@field proof_share? number
---@field proof_least? integer
---@field repeats? integer
---@field tenants? "refuse"|"note"
---@field pairs? ako.PairsPlan|false candidate and best timed in turn; false: not, though the policy extended does
---@field claims? number
---@field verify? integer
---@field screen? ako.ScreenPlan|false many candidates ranked before a few are decided on; false as above
---@field signal? ako.SignalPlan|false a cheaper first look at each candidate; false as above

---@class ako.PairsPlan
---@field looks? integer[]
---@field alpha? number
---@field threshold? number|string the least gain to keep, or the name of the option that holds it
---@field strict? boolean
---@field score? "geomean"|"total"|"worst"
---@field clock_pair? number
---@field clock_run? number
---@field most_dropped? number
---@field one_sided? number
---@field order_effect? number
---@field correlation? number
---@field hopeless? number
---@field seconds? number
---@field control? integer
---@field floor_factor? number
---@field headline? integer

---A number may be the name of the option that holds it.
---@class ako.SignalPlan
---@field trials? integer|string correctness trials
---@field launches? integer|string timed ones
---@field no_reference? string name of the option that leaves the reference untimed

---@class ako.ScreenPlan
---@field rounds? integer[]
---@field hopeless? number
---@field share? number
---@field finalists? integer|"sqrt"
---@field most_finalists? integer
---@field least? integer
---@field most? integer
---@field points? integer

---Inputs of a weak problem beside its own: with the other sign by chance, so many times as large.
---@class ako.InputForm
---@field signed? boolean
---@field times? number

---A file's policy, or what it gives to extend. Fields that are absent are inherited.
---@class ako.Policy
---@field name? string what records call the policy
---@field description? string one line for lists and help
---@field options? table<string, { [1]: number|string|boolean, [2]: string, [3]: any }> default, help text, check
---@field correctness? { trials?: integer, seed?: integer, predicate?: string, tolerance?: table<ako.Dtype, number>, faithful?: string, multi?: table<string, string>, weak?: "refuse"|"warn", weak_problem?: "refuse"|"warn", wider?: ako.InputForm[]|false, exact?: number }
---@field timing? ako.Timing
---@field budget? { build?: number, check?: number, time?: number, factor?: number, least?: number, propose?: number, no_ops?: integer, bench?: number } seconds, but for factor and no_ops
---@field accept? fun(trial: ako.Record, best: ako.Record, opt: table): ako.Verdict, string
---@field baseline? fun(trial: ako.Record, best: nil, opt: table): "keep"|"inconclusive", string
---@field admit? fun(change: { candidate?: string, hypothesis?: string, sources: table, best?: ako.Record }, opt: table): boolean, string?
---@field unchanged? fun(change: { sources: table, size: table<string, integer>, best: ako.Record }, opt: table): boolean? true: a candidate with the best's machine code is measured all the same
---@field stalled? fun(run: ako.Run, opt: table): string?
---@field stop? fun(run: ako.Run, opt: table): string?
---@field propose? fun(run: ako.Run, opt: table): ako.Proposed?, string?
---@field render? fun(run: ako.Run, opt: table): string[], table?
---@field find_task? fun(facts: ako.Facts, opt: table): table?, string? a task where no task.lua is, or what must be said
---@field bench? fun(facts: ako.Facts, opt: table): table|false|nil a benchmark command as a task has it in `bench`; nil: the task's own, false: none
---@field plan? fun(facts: ako.Facts, opt: table): string[][]?, string? own lines { label, value } of the resolved plan
---@field scaffold? fun(facts: ako.Facts, opt: table): table<string, string|{ text: string, merge?: boolean, say?: string }>
---@field gate? fun(run: ako.Run, proposal: ako.Proposal, opt: table): string?, table? what is missing before a trial may begin; or nil and facts for its record
---@field logs? fun(run: ako.Run, opt: table): table<string, string> files rendered from the history
---@field finish? fun(run: ako.Run, why: string?, opt: table): string? why the session may not be ended by hand now
---@field submit? fun(run: ako.Run, opt: table): string? when all is over: what it did itself, in words
---@field git? ako.Branching
---@field protected? string[] files and folders of the workspace that no candidate may change
---@field extend fun(self: ako.Policy, own: ako.Policy): ako.Policy

---The session's branch; {task}, {session} and {date} in its name stand for those.
---@class ako.Branching
---@field branch? string
---@field every? boolean reverted trials too
---@field paths? string[] committed beside the solution and the rendered files
---@field subject? fun(trial: ako.Record, run: ako.Run, opt: table): string?
---@field final? fun(run: ako.Run, opt: table): string?
---@field tag? fun(run: ako.Run, opt: table): string?

---What a policy sees before there is a run.
---@class ako.Facts
---@field workspace? string absolute; nil for a scratch folder that is still to be made
---@field task? { name: string, file: string, folder: string, solution: string[], from?: string[], reference: string[], bench?: string, inputs: string[], tensors: { name: string, dtype: string, dims: string[], role: string }[] }
---@field policy? string the policy, as the program is given it in the workspace
---@field read fun(path: string): string?
---@field exists fun(path: string): boolean

---What somebody wants to try next.
---@class ako.Proposal
---@field trial integer the number that it would have
---@field candidate? string
---@field hypothesis? string
---@field predict? number
---@field label? string
---@field point? table<string, string> of the tune space
---@field bench? { how: string, seconds: number, claimed?: table<string, number|boolean>, refused?: string } what the task's own benchmark command said
---@field changed string[] paths that differ from the best's
---@field sources { name: string, text: string }[]

---Figures of samples, in nanoseconds but for n.
---@class ako.Figures
---@field n integer
---@field median number
---@field mean number
---@field min number
---@field max number
---@field std number
---@field p95 number
---@field ci? number[] low and high end of the median's interval
---@field events? number mean by events, with the gaps between a call's launches, where the others are CUPTI's
---@field step? integer of the clock: the least difference of two samples, beyond what rounding makes; 0: none

---One trial, whatever its verdict.
---@class ako.Record
---@field trial integer 0 is the baseline
---@field session string
---@field candidate? string
---@field hypothesis? string
---@field predict? number by how many per cent its author expected it to be faster
---@field facts? table what the policy's gate gave of it before it began
---@field label? string
---@field options? table<string, any> the policy's options that were not at their defaults
---@field signal? { trials: integer, launches: integer, reference: boolean } what a cheaper first look took; such a figure keeps nothing
---@field against? integer the trial that was the best then
---@field size? { lines: integer, branches: integer, knobs: integer } of its sources
---@field subject? string first line of its commit on the branch, where the policy has its own
---@field runs? { median: number, speedup: table }[] of a verification that was repeated
---@field status ako.Status
---@field verdict ako.Verdict
---@field reason string
---@field override? "keep"|"revert" the verdict that somebody gave by hand afterwards; it counts instead of `verdict`
---@field override_reason? string
---@field code? string
---@field files? string the folder of its records, as seen from the workspace
---@field left_alone? string why its files stay in the workspace
---@field lane? string
---@field backend? string what its text is written for (ako.backend)
---@field timer? string
---@field timer_note? string
---@field build_error? table
---@field speedup { reference?: number, original?: number, best?: number }
---@field interval { original?: number[], best?: number[] }
---@field time_ns? ako.Figures over all workloads
---@field reference_ns? ako.Figures
---@field compiled_ns? ako.Figures in a workload: the reference under torch.compile
---@field compiled_note? string why there is none
---@field workloads table[]
---@field resources? { registers?: integer, shared?: integer, spill?: integer }
---@field costs_ms { build: integer, check: integer, time: integer, profile: integer, total: integer }
---@field floor_share? number share of the device's bandwidth limit that is reached
---@field timed_at? integer[] beginning and end of check and timing, wall clock in ns: the device was held
---@field tenants? { before?: integer, after?: integer, note: string } processes of strangers on the GPU
---@field disturbed? string strangers on the device, throttling, a clock that changed
---@field repeats? integer how often it was measured again for that
---@field paired? ako.Decision what pairs against the best say
---@field control? { gain: number, interval?: number[], pairs: integer, floor: number, clock_mhz?: integer } of the baseline, timed in turn with itself
---@field no_effect? boolean true: same machine code and launches as the best
---@field next? string what to do now, in words
---@field weakness? string what no honest kernel gives and the task lets pass, where the policy only warns
---@field tightened? { predicate: string, atol: number, rtol: number, instead: table, why: string } the tolerance of a Python problem, where the policy's own lets null results pass
---@field wider? { name: string, seed: integer, signed?: boolean, times?: number }[] inputs that a weak Python problem is tried on beside its own
---@field python? string interpreter, PyTorch, its switches, and where inputs are drawn, in words
---@field confinement? any what held the candidate's process
---@field autotuned? { kernel: string, key?: string, config: string }[] what Triton's autotuner chose, in the solution's own words
---@field point? table<string, string> of the tune space
---@field screen? ako.Screened what a screening saw of it

---A decision by pairs. Gains are shares: 0.02 takes 2 % less time.
---@class ako.Decision
---@field verdict ako.Verdict|"unstable"
---@field reason string
---@field gain? number
---@field interval? number[]
---@field pairs? integer
---@field dropped? integer of them, for their clocks
---@field look? integer from 0
---@field threshold? number
---@field raised_from? number the policy's threshold, where the machine's floor raised it
---@field order_effect? boolean
---@field clock_coupled? boolean
---@field correlated? boolean
---@field lag1? number
---@field timer? string

---In the field of many. `left` is why it was dropped; a finalist has its place instead.
---@class ako.Screened
---@field rounds integer
---@field speedup? number over the best of then, flattered by chance
---@field interval? number[]
---@field left? "same"|"failed"|"hopeless"|"slower"
---@field place? integer
---@field finalists? integer

---Words of an author's in a session's journal.
---@class ako.Note
---@field trial? integer that it is about
---@field after? integer the last trial when it was written, where it is about an older one
---@field text string
---@field topic? string
---@field file? string a path in the workspace
---@field hash? string the oid of what that file held
---@field time_s integer

---What a policy's own proposer gives: `text` for the solution's main file, or `files` for any of its files.
---@class ako.Proposed
---@field name? string
---@field text? string
---@field files? table<string, string>
---@field hypothesis? string
---@field predict? number by how many per cent it is expected to be faster

---What stop, stalled and render see.
---@class ako.Run
---@field trials integer without the baseline
---@field history ako.Record[]
---@field best? ako.Record
---@field original? ako.Record
---@field last? ako.Record
---@field last_sources? { name: string, text: string }[]
---@field elapsed_s number
---@field session string
---@field header table the journal's first line
---@field device table
---@field lane? string
---@field notes table[] { trial, topic, text, file, hash, time_s }
---@field next_trial integer
---@field workspace string
---@field task { name: string, file: string, solution: string[], reference: string[], workloads: string[], weights: number[] }
---@field tolerance? { predicate: string, atol: number, rtol: number } in force; nil where nothing is measured
---@field settings? { checks: integer, warmup: integer, launches: integer, flush: boolean } how it is measured in full; nil where nothing is
---@field finished false|{ ended?: string, verified: ako.Record, said?: string }

-- Lua's own globals that the host has changed

---Finds ako-lua's own modules ("ako.git"), bundled policies ("policies.kernelbench") and those in the file's folder.
---@overload fun(name: "ako.account"): ako.account
---@overload fun(name: "ako.advice"): ako.advice
---@overload fun(name: "ako.amend"): ako.amend
---@overload fun(name: "ako.attack"): ako.attack
---@overload fun(name: "ako.axes"): ako.axes
---@overload fun(name: "ako.backend"): ako.backend
---@overload fun(name: "ako.bench"): ako.bench
---@overload fun(name: "ako.bench_flags"): ako.bench_flags
---@overload fun(name: "ako.bench_lines"): ako.bench_lines
---@overload fun(name: "ako.bench_selftest"): ako.bench_selftest
---@overload fun(name: "ako.branch"): ako.branch
---@overload fun(name: "ako.brief"): ako.brief
---@overload fun(name: "ako.bundled"): ako.bundled
---@overload fun(name: "ako.case_product"): ako.case_product
---@overload fun(name: "ako.claiming"): ako.claiming
---@overload fun(name: "ako.claims"): ako.claims
---@overload fun(name: "ako.c_source"): ako.c_source
---@overload fun(name: "ako.cli"): ako.cli
---@overload fun(name: "ako.clock"): ako.clock
---@overload fun(name: "ako.codesize"): ako.codesize
---@overload fun(name: "ako.command"): ako.command
---@overload fun(name: "ako.console"): ako.console
---@overload fun(name: "ako.contract"): ako.contract
---@overload fun(name: "ako.control"): ako.control
---@overload fun(name: "ako.device"): ako.device
---@overload fun(name: "ako.doctor"): ako.doctor
---@overload fun(name: "ako.doctor_folder"): ako.doctor_folder
---@overload fun(name: "ako.drawing"): ako.drawing
---@overload fun(name: "ako.dtypes"): ako.dtypes
---@overload fun(name: "ako.ending"): ako.ending
---@overload fun(name: "ako.entry"): ako.entry
---@overload fun(name: "ako.evaluation"): ako.evaluation
---@overload fun(name: "ako.evaluator"): ako.evaluator
---@overload fun(name: "ako.evidence"): ako.evidence
---@overload fun(name: "ako.exits"): ako.exits
---@overload fun(name: "ako.extension"): ako.extension
---@overload fun(name: "ako.fault"): ako.fault
---@overload fun(name: "ako.finding"): ako.finding
---@overload fun(name: "ako.diagnosis"): ako.diagnosis
---@overload fun(name: "ako.format"): ako.format
---@overload fun(name: "ako.fs"): ako.fs
---@overload fun(name: "ako.gates"): ako.gates
---@overload fun(name: "ako.git"): ako.git
---@overload fun(name: "ako.guarding"): ako.guarding
---@overload fun(name: "ako.help"): ako.help
---@overload fun(name: "ako.host"): ako.host
---@overload fun(name: "ako.idle"): ako.idle
---@overload fun(name: "ako.inputs"): ako.inputs
---@overload fun(name: "ako.intact"): ako.intact
---@overload fun(name: "ako.journal"): ako.journal
---@overload fun(name: "ako.json"): ako.json
---@overload fun(name: "ako.judging"): ako.judging
---@overload fun(name: "ako.keyline"): ako.keyline
---@overload fun(name: "ako.launch"): ako.launch
---@overload fun(name: "ako.leftovers"): ako.leftovers
---@overload fun(name: "ako.lending"): ako.lending
---@overload fun(name: "ako.lines"): ako.lines
---@overload fun(name: "ako.litter"): ako.litter
---@overload fun(name: "ako.log"): ako.log
---@overload fun(name: "ako.logbook"): ako.logbook
---@overload fun(name: "ako.look"): ako.look
---@overload fun(name: "ako.loop"): ako.loop
---@overload fun(name: "ako.machine"): ako.machine
---@overload fun(name: "ako.matching"): ako.matching
---@overload fun(name: "ako.measuring"): ako.measuring
---@overload fun(name: "ako.noise"): ako.noise
---@overload fun(name: "ako.opening"): ako.opening
---@overload fun(name: "ako.options"): ako.options
---@overload fun(name: "ako.overriding"): ako.overriding
---@overload fun(name: "ako.paired"): ako.paired
---@overload fun(name: "ako.output"): ako.output
---@overload fun(name: "ako.path"): ako.path
---@overload fun(name: "ako.pick"): ako.pick
---@overload fun(name: "ako.place"): ako.place
---@overload fun(name: "ako.plan"): ako.plan
---@overload fun(name: "ako.plan_text"): ako.plan_text
---@overload fun(name: "ako.policy"): ako.policy
---@overload fun(name: "ako.problem"): ako.problem
---@overload fun(name: "ako.problem_cases"): ako.problem_cases
---@overload fun(name: "ako.problem_task"): ako.problem_task
---@overload fun(name: "ako.process"): ako.process
---@overload fun(name: "ako.progress"): ako.progress
---@overload fun(name: "ako.proposal"): ako.proposal
---@overload fun(name: "ako.proposer"): ako.proposer
---@overload fun(name: "ako.protect"): ako.protect
---@overload fun(name: "ako.publishing"): ako.publishing
---@overload fun(name: "ako.python"): ako.python
---@overload fun(name: "ako.python_source"): ako.python_source
---@overload fun(name: "ako.quiet"): ako.quiet
---@overload fun(name: "ako.recovering"): ako.recovering
---@overload fun(name: "ako.regex"): ako.regex
---@overload fun(name: "ako.rendering"): ako.rendering
---@overload fun(name: "ako.repair"): ako.repair
---@overload fun(name: "ako.replay"): ako.replay
---@overload fun(name: "ako.report"): ako.report
---@overload fun(name: "ako.robust_kbench"): ako.robust_kbench
---@overload fun(name: "ako.rules"): ako.rules
---@overload fun(name: "ako.scaffolding"): ako.scaffolding
---@overload fun(name: "ako.schema"): ako.schema
---@overload fun(name: "ako.scoreboard"): ako.scoreboard
---@overload fun(name: "ako.screen"): ako.screen
---@overload fun(name: "ako.seal"): ako.seal
---@overload fun(name: "ako.seeds"): ako.seeds
---@overload fun(name: "ako.session"): ako.session
---@overload fun(name: "ako.show"): ako.show
---@overload fun(name: "ako.simulate"): ako.simulate
---@overload fun(name: "ako.start"): ako.start
---@overload fun(name: "ako.stats"): ako.stats
---@overload fun(name: "ako.story"): ako.story
---@overload fun(name: "ako.suite"): ako.suite
---@overload fun(name: "ako.suite_builder"): ako.suite_builder
---@overload fun(name: "ako.suite_claims"): ako.suite_claims
---@overload fun(name: "ako.suite_pairs"): ako.suite_pairs
---@overload fun(name: "ako.suite_plan"): ako.suite_plan
---@overload fun(name: "ako.suite_records"): ako.suite_records
---@overload fun(name: "ako.suite_run"): ako.suite_run
---@overload fun(name: "ako.suite_table"): ako.suite_table
---@overload fun(name: "ako.suite_work"): ako.suite_work
---@overload fun(name: "ako.suite_worker"): ako.suite_worker
---@overload fun(name: "ako.survey"): ako.survey
---@overload fun(name: "ako.tap"): ako.tap
---@overload fun(name: "ako.task"): ako.task
---@overload fun(name: "ako.tensor"): ako.tensor
---@overload fun(name: "ako.tensors"): ako.tensors
---@overload fun(name: "ako.tightening"): ako.tightening
---@overload fun(name: "ako.widening"): ako.widening
---@overload fun(name: "ako.toolkit"): ako.toolkit
---@overload fun(name: "ako.trial"): ako.trial
---@overload fun(name: "ako.tune"): ako.tune
---@overload fun(name: "ako.unit"): ako.unit
---@overload fun(name: "ako.verbs"): ako.verbs
---@overload fun(name: "ako.verifying"): ako.verifying
---@overload fun(name: "ako.version"): ako.version
---@overload fun(name: "ako.view"): ako.view
---@overload fun(name: "ako.worker"): ako.worker
---@overload fun(name: "ako.workspace"): ako.workspace
---@param name string
---@return any
function require(name) end

-- Modules in C

---@class ako.clock
local clock = {}

---Monotonic, from an arbitrary origin: for intervals.
---@return integer ns
function clock.now_ns() end

---Since 1970 UTC.
---@return integer ns
function clock.wall_ns() end

---Sleeps, less long after Ctrl-C.
---@param ns integer
function clock.sleep_ns(ns) end

---"2025-01-31T23:59:59.123Z", now by default.
---@param wall_ns? integer
---@return string
function clock.date(wall_ns) end

---A proposer that is a shell command.
---@class ako.command
local command = {}

---Raises NOTFOUND when a command plainly cannot be run in a folder: its first word is none that the shell knows.
---@param text string
---@param folder? string
function command.check(text, folder) end

---True for a gain that somebody may expect, in per cent.
---@param gain number
---@return boolean
function command.is_forecast(gain) end

---The hypothesis in a text, and the gain that it predicts: "predict: 5 %" on a line of its own. Nil for what is not
---there.
---@param text string
---@return string? hypothesis, number? predict
function command.read_hypothesis(text) end

---Ends what is still at work of a proposal (the session's folder and its number) whose run was killed. Raises BUSY where
---this program itself belongs to it.
---@param folder string
---@param number integer
function command.stop_leftovers(folder, number) end

---A proposer out of a command for `sh -c`, which may take so many seconds. `policy` and `program` are the files that the
---command needs to call `ako-lua POLICY verb` itself.
---@param text string
---@param seconds number
---@param policy? string
---@param program? string
---@return any
function command.new(text, seconds, policy, program) end

---@class ako.command.Command
local Command = {}

---The next candidate of the loop's run: the command's edit, which lies in the workspace, or { nothing = why }. Nil and a
---reason when the user has interrupted it.
---@param loop any
---@return table? candidate, string? reason
function Command:next(loop) end

---@class ako.console
local console = {}

---Writes the result, to stdout, at once.
---@param text string
---@return true? written, string? message, ako.Code? code
function console.out(text) end

---Writes for people, to stderr.
---@param text string
---@return true? written, string? message, ako.Code? code
function console.err(text) end

---@param stream "out"|"err"
---@return boolean
function console.is_terminal(stream) end

---Width of the terminal of stderr; nil when it is none.
---@return integer?
function console.columns() end

---A device is a plain table: id, name, uuid, arch, place and what core/device_json.h names.
---@class ako.device
local device = {}

---Number of devices, the CPU included, and nil or why there is no GPU.
---@return integer n, string? why
function device.count() end

---GPUs in CUDA's order, the CPU last.
---@return table[]? devices, string? message, ako.Code? code
function device.list() end

---@param spec string "auto", "cpu", "cuda" or "cuda:N"
---@return table? device, string? message, ako.Code? code
function device.find(spec) end

---What NVML knows of a GPU now: sm_clock_mhz, temperature_c, throttle, processes ...
---@param id string
---@return table? state, string? message, ako.Code? code
function device.state(id) end

---The device's lock, for what this process starts while it is held; BUSY, with its holder, when that takes longer.
---@param uuid string
---@param wait_ns? integer
---@return ako.Lock? lock, string? message, ako.Code? code
function device.lock(uuid, wait_ns) end

---A lock on a folder or a device.
---@class ako.Lock
local Lock = {}

---Gives it back; closing twice is fine.
function Lock:close() end

---Paths are bytes, in any encoding.
---@class ako.fs
local fs = {}

---The content; LIMIT when the file has more bytes than `limit`, INVALID for pipes and devices.
---@param path string
---@param limit? integer
---@return string? content, string? message, ako.Code? code
function fs.read(path, limit) end

---Of the content, as git.hash of the text; the file may be larger than Lua's memory.
---@param path string
---@return string? oid, string? message, ako.Code? code
function fs.hash(path) end

---Replaces the file at once and, with `sync`, for good; follows a link.
---@param path string
---@param data string
---@param sync? boolean
---@return true? written, string? message, ako.Code? code
function fs.write(path, data, sync) end

---Content and permissions.
---@param from string
---@param to string
---@return true? copied, string? message, ako.Code? code
function fs.copy_file(from, to) end

---With parents; fine when it is there.
---@param path string
---@return true? made, string? message, ako.Code? code
function fs.mkdirs(path) end

---With all that is below; fine when it is not there.
---@param path string
---@return true? removed, string? message, ako.Code? code
function fs.remove_tree(path) end

---A file, a folder, or a link that leads to one.
---@param path string
---@return boolean
function fs.exists(path) end

---A folder, or a link that leads to one.
---@param path string
---@return boolean
function fs.is_dir(path) end

---A plain file, or a link that leads to one: reading it ends.
---@param path string
---@return boolean
function fs.is_file(path) end

---By this user; of a folder: entries can be made in it.
---@param path string
---@return boolean
function fs.is_writable(path) end

---Bytes that its file system still has for this user, and all that it has.
---@param path string
---@return integer? available, integer|string total, ako.Code? code
function fs.space(path) end

---An exclusive lock on a folder, until it is closed or the process ends; leaves nothing behind. BUSY when somebody,
---perhaps this process, has it.
---@param folder string
---@return ako.Lock? lock, string? message, ako.Code? code
function fs.lock(folder) end

---Of a link itself.
---@param path string
---@return { type: "file"|"dir"|"link"|"other", size: integer, mtime_ns: integer, ctime_ns: integer, inode: integer }? stat, string? message, ako.Code? code
function fs.stat(path) end

---The names in a folder, in byte order.
---@param path string
---@return string[]? names, string? message, ako.Code? code
function fs.list(path) end

---A new folder that nobody else can read.
---@param prefix? string
---@return string? path, string? message, ako.Code? code
function fs.temp_dir(prefix) end

---Without links, "." and ".."; the path must exist.
---@param path string
---@return string? path, string? message, ako.Code? code
function fs.absolute(path) end

---A folder of this user, made when it is not there.
---@param kind "cache"|"state"|"runtime"
---@return string? path, string? message, ako.Code? code
function fs.user_dir(kind) end

---The folder of the running program.
---@return string? path, string? message, ako.Code? code
function fs.program_dir() end

---With one slash between; an absolute part starts anew, as in a shell's cd.
---@param a string
---@param ... string
---@return string
function fs.join(a, ...) end

---"c" of "a/b/c" and of "a/b/c/".
---@param path string
---@return string
function fs.basename(path) end

---"a/b" of "a/b/c", "." of "c", "/" of "/c".
---@param path string
---@return string
function fs.dirname(path) end

---@class ako.git
local git = {}

---The repository that holds the folder.
---@param path string
---@return ako.Repo? repo, string? message, ako.Code? code
function git.open(path) end

---The same, made when there is none; and whether it was.
---@param path string
---@param own? boolean a repository of a folder above does not count
---@return ako.Repo? repo, boolean|string made, ako.Code? code
function git.init(path, own) end

---The oid that these bytes have as a file.
---@param data string
---@return string oid
function git.hash(data) end

---A repository seen from one folder of it, the workspace. Paths are relative to that folder.
---@class ako.Repo
local Repo = {}

---The repository's working folder, absolute.
---@return string
function Repo:workdir() end

---.git, also of a linked working tree.
---@return string
function Repo:commondir() end

---The workspace seen from the working folder, "" or "sub/folder/".
---@return string
function Repo:prefix() end

---@return { oid?: string, ref?: string, unborn: boolean, detached: boolean }? head, string? message, ako.Code? code
function Repo:head() end

---The branch's short name, also of an unborn one; false when HEAD is detached.
---@return string|false|nil branch, string? message, ako.Code? code
function Repo:branch() end

---As `git status --porcelain` has them, for the workspace.
---@return { path: string, code: string }[]? changes, string? message, ako.Code? code
function Repo:status() end

---@param rev string
---@return string? oid, string? message, ako.Code? code
function Repo:resolve(rev) end

---The oid of the tree of `base` (nil: empty) with the files at these paths as they are now.
---@param base string?
---@param paths string[]
---@return string? oid, string? message, ako.Code? code
function Repo:tree(base, paths) end

---The content of a file.
---@param rev string
---@param path string
---@return string? content, string? message, ako.Code? code
function Repo:read(rev, path) end

---The oid of a file as it is now.
---@param path string
---@return string? oid, string? message, ako.Code? code
function Repo:hash(path) end

---Sets `ref` when it is as `expect` says.
---@param commit { tree: string, message: string, parents?: string[], author?: string, time_s?: integer, ref?: string, expect?: string }
---@return string? oid, string? message, ako.Code? code
function Repo:commit(commit) end

---Newest first.
---@param rev? string
---@param max? integer
---@return { oid: string, tree: string, parent: string, author: string, email: string, message: string, time_s: integer }[]? log, string? message, ako.Code? code
function Repo:log(rev, max) end

---@param name string
---@param rev string
---@param message? string
---@return true? tagged, string? message, ako.Code? code
function Repo:tag(name, rev, message) end

---Sorted by name.
---@param glob? string
---@return { name: string, oid: string }[]? refs, string? message, ako.Code? code
function Repo:refs(glob) end

---@param name string
---@param rev string
---@param expect? string the oid that it must have now, "" for a new one
---@return true? set, string? message, ako.Code? code
function Repo:set_ref(name, rev, expect) end

---@param name string
---@param expect? string
---@return true? deleted, string? message, ako.Code? code
function Repo:delete_ref(name, expect) end

---Makes files what `rev` has. With `expect`, BUSY names a file whose bytes none of those oids has; nothing is written.
---@param rev string
---@param paths string[]
---@param options? { remove?: boolean, expect?: string[] }
---@return true? restored, string? message, ako.Code? code
function Repo:restore(rev, paths, options) end

---@param from string
---@param to string
---@param options? { paths?: string[], patch?: boolean }
---@return { changes: { path: string, code: string }[], insertions: integer, deletions: integer, patch?: string }? diff, string? message, ako.Code? code
function Repo:diff(from, to, options) end

function Repo:close() end

---@class ako.journal
local journal = {}

---For writing: the journal, and the bytes of a torn last line that this cut off. BUSY names who has it open.
---@param path string
---@return ako.Journal? journal, string? torn, ako.Code? code
function journal.open(path) end

---The records, or each given to a function with the byte at which its line begins; then the bytes of a torn last line.
---CORRUPT names the damaged line. Takes no lock and writes nothing.
---@param path string
---@param each? fun(record: table, offset: integer)
---@return table[]? records, string? torn, ako.Code? code
function journal.read(path, each) end

---The record whose line begins at this byte; CORRUPT when none does.
---@param path string
---@param offset integer
---@return table? record, string? message, ako.Code? code
function journal.at(path, offset) end

---@class ako.Journal
local Journal = {}

---True once the record is on disk, and the byte at which its line begins; IO leaves the journal as it was.
---@param record table
---@return true? appended, string|integer message_or_offset, ako.Code? code
function Journal:append(record) end

---The same for an array, in one write.
---@param records table[]
---@return true? appended, string? message, ako.Code? code
function Journal:append_many(records) end

---As journal.read.
---@param each? fun(record: table)
---@return table[]? records, string? torn, ako.Code? code
function Journal:entries(each) end

function Journal:close() end

---Integer-exact JSON. Tables with keys 1..n are arrays, an empty one is an object unless it is marked.
---@class ako.json
---@field null lightuserdata
local json = {}

---Compact text, keys sorted. Raises for what is not JSON, with the place in the value.
---@param value any
---@return string
function json.encode(value) end

---INVALID for what is not JSON, LIMIT for more bytes than `limit`.
---@param text string
---@param limit? integer
---@return any value, string? message, ako.Code? code
function json.decode(text, limit) end

---Marks a table, a new one when there is none, as an array.
---@param table? table
---@return table
function json.array(table) end

---Problems in the format of KernelBench: a Python file with `class Model`, `get_inputs` and `get_init_inputs` is a task
---as it is. Here is what can be told before it has run; ako.problem_task runs it. Other formats in Python
---(ako.contract, ako.robust_kbench) are put as questions of their own.
---@class ako.problem
local problem = {}

---True where a file is such a problem by its name.
---@param file any
function problem.is_problem(file) end

---A file as a source of a unit, { name, text }: by its last name, or below `folder` where that name is `taken`.
---@param file string
---@param taken any
---@param folder any
function problem.source(file, taken, folder) end

---What can be said of a problem before it has run: enough to find its workspace. `solution` is the file named on the
---command line, or nil; `given` may have inputs, a file whose inputs count instead of the problem's own; dims, the
---sizes of a problem that takes them (ako.contract); and multi, which of the settings of a robust-kbench task are tried
---(ako.case_product).
---@param file any
---@param solution any
---@param given? { inputs?: string, dims?: table, multi?: { init?: boolean, input?: boolean } }
function problem.load(file, solution, given) end

---True for what `load` gives.
---@param value any
---@return boolean
function problem.is_loaded(value) end

---What no solution of a problem may have: the inputs are the problem's. A line and the rule's name, nil without.
---@param task any
---@param sources { name: string, text: string }[]
---@return string? reason, string? rule
function problem.refusal(task, sources) end

---The cases of a problem in Python, as one run of it has shown them, as what a task consists of.
---@class ako.problem_cases
local problem_cases = {}

---What the cases of the problem in `file` come to: { tensors, tensor, scalars, axes, workloads, moved }, as a task of
---ako.task has them. Raises INVALID where they differ in more than shapes.
---@param cases table[]
---@param file string
---@return table
function problem_cases.read(cases, file) end

---The task that a problem in Python poses: what it asks for is found out by running it once, in the referee's process.
---@class ako.problem_task
local problem_task = {}

---The resolved task (as ako.task gives it) of a loaded problem: runs it once on the evaluator. `how` is { seed,
---faithful, trials, seconds, ... }: with `faithful` its inputs and weights are drawn on the CPU, whose bits the original
---has, and those of its first `trials` seeds (.facts.seeds of the task) ahead; `seconds` is how long the run may take (nil: no limit). Raises faults:
---INVALID for a mistake in the problem, with file and line where they are known.
---@param evaluator any
---@param loaded any
---@param how any
function problem_task.resolve(evaluator, loaded, how) end

---What is to be said of a problem before anything is measured, a line each.
---@param task any
function problem_task.notes(task) end

---Interpreter, versions and what else decides a problem's figures, in one line; nil for another task.
---@param task any
---@return string?
function problem_task.facts_text(task) end

---@class ako.process
local process = {}

---Runs a program to its end, without a shell. At the limit it and everything that it has started are killed; what it
---leaves in the background is too. A program that fails is a result.
---@param command { [integer]: string, stdin?: string, cwd?: string, env?: table<string, string|false>, limit_ns?: integer, output_cap?: integer }
---@return { ok: boolean, code?: integer, signal?: string, how: string, stdout: string, stderr: string, timed_out: boolean, wall_ns: integer }? result, string? message, ako.Code? code
function process.run(command) end

---Starts a program that runs beside this one and dies with it; all that it says goes to this one's stderr.
---@param command { [integer]: string, cwd?: string, env?: table<string, string|false> }
---@return ako.Child? child, string? message, ako.Code? code
function process.start(command) end

---@class ako.Child
local Child = {}

---How it ended; TIMEOUT while it still runs, CANCELLED when the user has stopped it. Nothing it has started is left.
---@param limit_ns? integer
---@return { ok: boolean, code?: integer, signal?: string, how: string }? result, string? message, ako.Code? code
function Child:wait(limit_ns) end

---Ends it and all that it has started; closing twice is fine.
function Child:close() end

---PCRE2 with limits.
---@class ako.regex
---@field limits { match: integer, depth: integer, heap_kib: integer }
local regex = {}

---A fault in the pattern raises, with its offset.
---@param pattern string
---@param flags? string out of "imsxul"
---@param limits? { match?: integer, depth?: integer, heap_kib?: integer }
---@return ako.Regex
function regex.new(pattern, flags, limits) end

---@class ako.Regex
local Regex = {}

---The groups, or the whole match when there are none; nil when there is no match.
---@param text string
---@param start? integer
---@return string? ...
function Regex:match(text, start) end

---First and last byte of the match, then the groups; nil when there is no match.
---@param text string
---@param start? integer
---@return integer? first, integer? last, string? ...
function Regex:find(text, start) end

---The whole match at 0, the groups at their numbers and names; nil when there is no match.
---@param text string
---@param start? integer
---@return table?
function Regex:captures(text, start) end

---An iterator over what match gives.
---@param text string
---@return fun(): string?
function Regex:gmatch(text) end

---The new text and the number of matches. A string has $1, ${name}, $$; a table is asked for the first group; a function
---is called with the groups.
---@param text string
---@param replacement string|table|fun(...): string?
---@param max? integer
---@return string text, integer n
function Regex:gsub(text, replacement, max) end

---The pieces between matches, at most `max`.
---@param text string
---@param max? integer
---@return string[]
function Regex:split(text, max) end

function Regex:close() end

---Launches on machines that do not exist, to try rules on: "quiet", "drift" (slow), "shared" (with other tenants) and
---"noisy". The same seed and stream give the same launches; other streams are the same machine long after.
---@class ako.noise
local noise = {}

---What n launches of a kernel that takes base_ns take, in ns.
---@param model string
---@param seed integer
---@param stream integer from 0 to 2^32 - 1
---@param base_ns integer
---@param n integer
---@return integer[]
function noise.launches(model, seed, stream, base_ns, n) end

---n pairs of two kernels that both take base_ns, timed in turn; a sample is the median of so many launches.
---@param model string
---@param seed integer
---@param stream integer
---@param base_ns integer
---@param n integer
---@param launches integer 1 to 64
---@return ako.Pairs
function noise.pairs(model, seed, stream, base_ns, n, launches) end

---Their names, from the quietest on.
---@return string[]
function noise.models() end

---Samples of two that were timed in turn, the incumbent first in the first, third, ... pair.
---@class ako.Pairs
---@field candidate_ns integer[]
---@field incumbent_ns integer[]
---@field candidate_mhz? integer[] clocks; 0 is unknown
---@field incumbent_mhz? integer[]

---Gains are shares of the incumbent's time: 0.02 is 2 % less. look counts from 0, -1 is before the first.
---@class ako.Paired
---@field verdict "keep"|"revert"|"inconclusive"|"unstable"
---@field look integer
---@field pairs integer that were measured up to the verdict
---@field dropped integer of these, because of their clocks
---@field gain number
---@field interval? number[] absent with too few pairs
---@field order_effect boolean
---@field clock_coupled boolean the candidate moves the clock itself
---@field correlated boolean
---@field lag1 number autocorrelation

---The decision between two that were timed in turn; core/paired.h says how.
---@class ako.paired
local paired = {}

---Judges pairs look by look, as if they were being measured, up to the first look that decides.
---@param given { plan: table, weights?: number[], pairs: ako.Pairs[] } by workload; a plan's numbers are core/paired.h's
---@return ako.Paired
function paired.decide(given) end

---@class ako.stats
local stats = {}

---No ci where there are too few samples for one.
---@param samples number[]
---@param alpha? number
---@return ako.Figures
function stats.summary(samples, alpha) end

---By linear interpolation; the values need no order.
---@param values number[]
---@param q number
---@return number
function stats.quantile(values, q) end

---The rank of the interval's lower end (0: n is too small), and the interval's true error.
---@param n integer
---@param alpha? number
---@return integer rank, number alpha
function stats.rank(n, alpha) end

---Of positive values.
---@param values number[]
---@return number
function stats.geomean(values) end

---Files of tensors (.npy, .npz, .safetensors, raw) and the primitives that check them.
---@class ako.tensor
local tensor = {}

---The first n elements (1024).
---@param path string
---@param member? string
---@param n? integer
---@return { dtype: ako.Dtype, shape: integer[], bytes: integer, values: number[] }? tensor, string? message, ako.Code? code
function tensor.read(path, member, n) end

---Without reading the elements; dtype and shape are those of a raw file, which does not know its own.
---@param path string
---@param format string
---@param member? string
---@param dtype? ako.Dtype
---@param shape? integer[]
---@return { dtype: ako.Dtype, shape: integer[], bytes: integer }? description, string? message, ako.Code? code
function tensor.describe(path, format, member, dtype, shape) end

---The format is that of the name's end.
---@param path string
---@param dtype ako.Dtype
---@param shape integer[]
---@param values number[]
---@param member? string
---@return true? written, string? message, ako.Code? code
function tensor.write(path, dtype, shape, values, member) end

---The bits of the value rounded to the dtype, and what they stand for.
---@param dtype ako.Dtype
---@param value number
---@return integer bits, number value
function tensor.convert(dtype, value) end

---The elements that a tensor so initialised begins with.
---@param dtype ako.Dtype
---@param count integer
---@param init { kind: "normal"|"uniform"|"constant"|"arange", a?: number, b?: number, seed?: integer, stream?: integer }
---@return number[]
function tensor.fill(dtype, count, init) end

---What a trial says of an output; `first` counts its indices from 0.
---@param dtype ako.Dtype
---@param got number[]
---@param expected number[]
---@param tolerance table
---@return table
function tensor.compare(dtype, got, expected, tolerance) end

---@class ako.version
---@field ako string
---@field lua string
local version = {}

---Linked libraries and those found on the machine.
---@return { name: string, version: string, path?: string, why?: string }[]? libraries, string? message, ako.Code? code
function version.libraries() end

---@class ako.worker
local worker = {}

---An evaluator process, not yet greeted.
---@param path? string of ako-worker; by default the one that belongs to this program
---@return ako.Worker? worker, string? message, ako.Code? code
function worker.start(path) end

---@class ako.Worker
local Worker = {}

---`message` is a request of docs/protocol.md without its id. progress is called with each event, and a true result
---cancels; an error in it cancels too, and is raised once the evaluator has stopped.
---@param message table
---@param progress? fun(event: table): boolean?
---@return table? answer, string? message, ako.Code? code
function Worker:request(message, progress) end

---Gives a key for tensors with init.file.
---@param path string
---@return string? key, string? message, ako.Code? code
function Worker:upload(path) end

function Worker:close() end

---For the standard library alone.
---@class ako.host
---@field home string the folder that holds stdlib/, policies/ and examples/
local host = {}

---Limits of the whole run; nil leaves one as it is, 0 seconds is no limit.
---@param seconds? number of Lua's own running time
---@param bytes? integer
function host.limit(seconds, bytes) end

---The least that the core says on stderr.
---@param level "error"|"warn"|"info"|"debug"
function host.log_level(level) end

---Forgets the running time used so far.
function host.refill() end

---@return number seconds, integer bytes
function host.usage() end

---As pcall, with the time limit of one call into a policy. A text that is raised comes back with a traceback.
---@param f function
---@param ... any
---@return boolean ok, any ...
function host.call(f, ...) end

---Its results, or what it raises. A first Ctrl-C, also one that is being followed, waits until it is done.
---@param f function
---@param ... any
---@return any ...
function host.undisturbed(f, ...) end

---An error object that, raised, ends the program with that exit code and line.
---@param code integer
---@param message string
---@return table
function host.leave(code, message) end

---@param value any
---@return boolean
function host.is_leave(value) end

---The file's chunk, which sees what user code sees or, `internal`, what the standard library does.
---@param path string
---@param name string what messages call it
---@param internal? boolean
---@return function? chunk, string? message, ako.Code? code
function host.load(path, name, internal) end

---Names the file that is run, the folder of its own modules, and the global `arg`.
---@param name string
---@param folder string
---@param arguments table
function host.subject(name, folder, arguments) end

---File and line of the call of the function that asks, the line nil when it was a tail call.
---@return string file, integer? line
function host.caller() end

---The names of a Lua function's parameters, "..." last; nil for a function in C.
---@param f function
---@return string[]?
function host.parameters(f) end

-- Modules in Lua, under stdlib/ako: their sources say more.

---@class ako.axes
local axes = {}

---@param text string
---@param at any
function axes.scanner(text, at) end

---Parses a whole string (or takes an integer) as one expression; returns its tree. Raises faults.
---@param text string
function axes.parse(text) end

---Value of a tree: `values` maps names to numbers. Raises faults: unknown name, division by zero, overflow.
---@param tree any
---@param values any
function axes.value(tree, values) end

---The same where only an integer will do.
---@param tree any
---@param values any
function axes.integer(tree, values) end

---The names that a tree uses, as a set (added to `into` when given).
---@param tree any
---@param into any
function axes.names(tree, into) end

---@param scanner any
function axes.expression(scanner) end

---@class ako.axes.Scanner
local Scanner = {}

function Scanner:skip() end

---Takes what the pattern matches at the current place (after blanks), or returns nil and stays.
---@param pattern string
function Scanner:take(pattern) end

---What stands here, for messages: the rest of the line, shortened.
function Scanner:rest() end

---@param pattern string
---@param what string
function Scanner:expect(pattern, what) end

function Scanner:done() end

---Reads `item(scanner)` separated by commas up to the closing parenthesis, which is taken too.
---@param item any
function Scanner:list(item) end

---Which of KernelBench's backends a solution is written for, seen from its text.
---@class ako.backend
local backend = {}

---The backend of a solution's text: one of backend.NAMES or "pytorch". `name`: its file, nil for a Python one.
---@param text string
---@param name? string
---@return string
function backend.detect(text, name) end

---As `detect`, but for what was given by hand (nil: nothing). Returns the backend and where it comes from, "auto" or
---"explicit".
---@param given? string
---@param text string
---@param name? string
---@return string backend, "auto"|"explicit" origin
function backend.choose(given, text, name) end

---@class ako.branch
local branch = {}

---The message of a trial's commit: its subject, and what was found in lines that scripts can read.
---@param record ako.Record
---@return string
function branch.message(record) end

---Puts a commit on the session's branch. what: trial, tree (what `paths` of the workspace are added to), message and
---paths; final = true for that of the end, override = true for one by hand. `line` is the journal's last line about
---it, nil before the first; append(line) writes one. Returns the new line; .ref differs from line's when a new name
---had to be taken. Raises.
---@param session any
---@param spec { branch?: string, every?: boolean }
---@param what table
---@param line? table
---@param append fun(line: table)
---@return table
function branch.commit(session, spec, what, line, append) end

---The ref of an attempt of a session, by its number.
---@param name string
---@param n integer
---@return string
function branch.attempt_ref(name, n) end

---True when the ref of a line is as it was before, or git's lock of it is still there.
---@param repo ako.Repo
---@param line table
---@return boolean
function branch.is_unset(repo, line) end

---Makes good what a kill left: the ref of the last line. Returns the line that holds now.
---@param session any
---@param spec { branch?: string, every?: boolean }
---@param line table
---@param append fun(line: table)
---@return table
function branch.repair(session, spec, line, append) end

---What somebody without a memory needs to go on. `parts` of its functions: policy, opt, hook (calls a hook of the
---policy; default: under the host's limits), command (how the program is called: "ako-lua mine.lua"), holder (who has the
---open trial). They raise what the policy's hooks raise.
---A benchmark command of the user's own; what it prints is a claim.
---@class ako.bench
local bench = {}

---Reads what a task says: { "program", arguments ..., seconds, claims, files }. Raises faults.
---@param given table
---@param what string
---@return { argv: string[], seconds?: number, claims: table[], files?: string[] }
function bench.read(given, what) end

---The command in words.
---@param given table
---@return string
function bench.text(given) end

---What it may take: the task says it, else the policy.
---@param given table
---@param policy ako.Policy
---@return number
function bench.seconds(given, policy) end

---The hash of all that a task says about it.
---@param given table
---@return string
function bench.hash(given) end

---The files of a folder that belong to it: those that the task names, or else its script, unless that is in `except`.
---@param given table
---@param folder string
---@param except string[]
---@return string[]
function bench.files(given, folder, except) end

---Ends what is still at work for a trial whose run was killed. Raises BUSY where this program itself belongs to it.
---@param folder string the session's
---@param number integer
function bench.stop_leftovers(folder, number) end

---What a record's .bench says, in words.
---@param given { how: string, seconds: number, claimed?: table<string, number|boolean>, refused?: string }
---@return string
function bench.account(given) end

---Runs the task's command, if there is one and the trial has come so far that it matters. Writes .bench into the record,
---and another status where the command is against the candidate or cannot be believed. Returns what it printed, or nil.
---@param loop table
---@param record ako.Record
---@param sources { name: string, text: string }[]
---@return string? log
function bench.run(loop, record, sources) end

---The command line of AKO4ALL's evaluator (bench/kernelbench/bench.py).
---@class ako.bench_flags
local bench_flags = {}

---Reads a command line, in which `others` (specs of ako.options) may stand, too. Only precision and the booleans have
---defaults. Returns the flags and the others' values; or nil, one line, and INVALID (exit 2).
---@param args string[]
---@param others? table[]
---@param explain? fun(name: string, text?: string, following?: string, near: string): string? as ako.options has it
---@return { ref?: string, solution?: string, inputs?: string, baseline?: string, timing_method?: string, precision: string, backend?: string, num_correct_trials?: integer, num_perf_trials?: integer, no_ref: boolean, verbose: boolean, self_test: boolean, help: boolean }? flags, table|string others, ako.Code? code
function bench_flags.parse(args, others, explain) end

---What the flags change of a policy, as `policy:extend` takes it: only what was given is in it.
---@param flags table
---@return { correctness: { trials?: integer }, timing: ako.Timing }
function bench_flags.overrides(flags) end

---What the flags say of the task and the lane, in ako-lua's words.
---@param flags table
---@return { reference: string, solution: string, inputs?: string, original?: string, dtype: ako.Dtype, backend?: string }
function bench_flags.lane(flags) end

---The text of --help; the defaults are those of `policy`, whose numbers hold where a flag is not given.
---@param policy ako.Policy
---@return string
function bench_flags.help(policy) end

---What AKO4ALL's evaluator prints of a result.
---@class ako.bench_lines
local bench_lines = {}

---The figures of a trial's result (docs/protocol.md), durations in ms, -1 where there are none. `baseline`: figures of
---the original kernel, false where they were asked for in vain.
---@param result table
---@param of { backend: string, origin: "auto"|"explicit", excessive?: number, trials?: integer, device?: { name?: string, id?: string }, baseline?: table|false }
---@return table
function bench_lines.figures(result, of) end

---The lines on stdout for figures, in the evaluator's order; with `verbose` the details.
---@param figures table
---@param verbose? boolean
---@return string[]
function bench_lines.lines(figures, verbose) end

---The same as one object for ako.json, nothing in it rounded: what there is none of is -1 as in the lines, or null.
---@param figures table
---@return table
function bench_lines.object(figures) end

---The evaluator's exit code: 0 for a solution that is correct, else 1.
---@param figures table
---@return integer
function bench_lines.exit_code(figures) end

---@class ako.bench_selftest
local bench_selftest = {}

---The reading of solutions, tried on texts whose facts are known: whether all is as it must be, and the tests.
---@return boolean passed
---@return { name: string, passed: boolean, problem?: string }[] tests
function bench_selftest.run() end

---A line for each test.
---@param tests table[]
---@return string
function bench_selftest.text(tests) end

---What somebody else's benchmark prints about its results.
---@class ako.claims
local claims = {}

---Reads { name = pattern, or { pattern, unit = "s" | "ms" | "us" | "ns" }, correct = { pattern, yes = text } } into a
---list by name. Raises faults.
---@param given table
---@param what string
---@return table[]
function claims.read(given, what) end

---True where the output says that the result is right; nil where it says nothing about that, or not clearly.
---@param list table[]
---@param text string
---@return boolean?
function claims.says_correct(list, text) end

---The claims in an output, durations as NAME_ns, and the words before each; or nil and why they are none.
---@param list table[]
---@param text string
---@return table<string, number|boolean>? claimed, table<string, string>|string labels
function claims.find(list, text) end

---@class ako.brief
local brief = {}

---All that a brief is made of, as the JSON object of the verb has it.
---@param run ako.Run
---@param parts { policy: ako.Policy, opt: table, hook?: function, command?: string, holder?: string }
---@return table
function brief.object(run, parts) end

---A brief as text, at most brief.MOST_BYTES (2048) long, from its object.
---@param object table
---@return string
function brief.shown(object) end

---The brief of a run as text.
---@param run ako.Run
---@param parts { policy: ako.Policy, opt: table, hook?: function, command?: string, holder?: string }
---@return string
function brief.text(run, parts) end

---@class ako.bundled
local bundled = {}

---Names of the bundled policies, in order.
function bundled.names() end

---What messages call a bundled policy.
---@param name string
function bundled.file(name) end

---The file for what was typed: what messages call it and its path. Raises faults.
---@param typed string
function bundled.find(typed) end

---The cases of robust-kbench's configurations.
---@class ako.case_product
local case_product = {}

---Each init setting with each input setting and each shared one, which goes into both and has the last word. `multi`:
---whose multi_ lists are taken. Nil, a message and INVALID for a list that is missing or empty.
---@param config table the decoded config_forward.json
---@param multi? { init?: boolean, input?: boolean }
---@return { name: string, init: table, input: table }[]? cases, string? problem, ako.Code? code
function case_product.cases(config, multi) end

---Tasks in the format of robust-kbench: a folder with func_forward.py and config_forward.json, whose settings are the
---cases: a workload each.
---@class ako.robust_kbench
local robust_kbench = {}

---The configuration that belongs to a task's file.
---@param file string
---@return string
function robust_kbench.config_of(file) end

---True for the Python file of such a task.
---@param file string
---@return boolean
function robust_kbench.is_task(file) end

---The Python file of the task that a folder is; nil for another folder. Raises INVALID for one that lacks the
---configuration, or has a backward task alone.
---@param folder string
---@return string?
function robust_kbench.file_of(folder) end

---What is asked of such a task (ako.problem): its cases. Raises INVALID.
---@param config { name: string, text: string } the configuration as a source
---@param multi? { init?: boolean, input?: boolean }
---@return table
function robust_kbench.question(config, multi) end

---What of a text in C, C++ or CUDA is code.
---@class ako.c_source
local c_source = {}

---The text without comments, literals empty but for "C", every line in its place.
---@param text string
---@return string
function c_source.code(text) end

---The whole program: the exit code for the arguments.
---@alias ako.cli fun(arguments: string[]): integer

---The A/A control: a kernel timed in turn with itself, in two processes. What the machine then takes for a gain is its
---floor, and no threshold finer than some times that means anything here.
---@class ako.codesize
local codesize = {}

---Of sources { { name, text }, ... }: { lines (with code on them), branches (if, for, while, case, ?:), knobs (numbers
---by #define or constexpr, tune lines) }.
---@param sources { name: string, text: string }[]
---@return { lines: integer, branches: integer, knobs: integer }
function codesize.of(sources) end

---@class ako.control
local control = {}

---The SM clock in MHz at which a result's pairs were taken, nil where nobody can say.
---@param result table
---@return integer?
function control.clock_of(result) end

---The numbers for a control: looks up to as many pairs as the policy wants, ended as soon as the floor is too low to
---raise the threshold. Nil for a policy without.
---@param policy any
---@param opt? table
---@return table?
function control.plan(policy, opt) end

---What a control's result says: { gain, interval, pairs, floor, clock_mhz }, nil without one. The floor is what a gain
---must exceed to be more than this: |gain| plus half the interval's width.
---@param result table
---@return table?
function control.of(result) end

---Whether a control was taken at another clock than the last trial's, by more than the policy lets a run vary.
---@param policy any
---@param known? table
---@param clock_mhz? integer
---@return boolean
function control.is_outdated(policy, known, clock_mhz) end

---@class ako.drawing
local drawing = {}

---`how` of ako.problem_task's resolve for a policy and the values of its options; `seed` (from the command line)
---replaces the policy's.
---@param policy ako.Policy
---@param opt table
---@param seed? integer
---@return table
function drawing.how(policy, opt, seed) end

---@class ako.dtypes
---@field all table<ako.Dtype, boolean>
local dtypes = {}

---@param name string
function dtypes.check(name) end

---@class ako.ending
local ending = {}

---True for a policy that would have anything to say.
---@param policy any
function ending.is_asked(policy) end

---ctx: policy, opt, hook(name, ...); facts: members of ako.Run that stay as they are (session, header, task ...).
---@param ctx table
---@param facts any
function ending.new(ctx, facts) end

---@class ako.ending.Ending
---@field stalls { trial: integer, reason: string }[]
local Ending = {}

---Takes the next trial's record, with its verdict.
---@param record ako.Record
function Ending:take(record) end

---Takes a note that had been written by then.
---@param line table
function Ending:note(line) end

---Why the run ends behind the last record, or nil.
---@param best? ako.Record the best then
---@param elapsed_s number
---@return string?
function Ending:reason(best, elapsed_s) end

---@class ako.evaluator
local evaluator = {}

---Starts an evaluator. options.device: "auto", "cpu" or "cuda:N"; options.python (ako.python's facts): for tasks of
---Python; options.progress(event): called while a request runs. Returns it with .device (name, uuid, arch, place ...),
---.versions and .place ("gpu" or "cpu").
---@param options any
function evaluator.start(options) end

---@class ako.evaluator.Evaluator
local Evaluator = {}

---@param message string
function Evaluator:request(message) end

---Whether it still answers, or has come to an end of its own.
---@return boolean
function Evaluator:is_there() end

---Gives it what must be computed: a resolved task (ako.task), the tolerance, the unit of the reference.
---@param task any
---@param tolerance any
---@param reference any
---@param pairs? boolean trials will have an incumbent
function Evaluator:task(task, tolerance, reference, pairs) end

---What a Python problem asks for: `unit` has its files, `question` is for it (stdlib/python). Returns the answer with
---.description. nil seconds: no limit.
---@param unit any
---@param question any
---@param seconds? number
function Evaluator:describe(unit, question, seconds) end

---Runs steps of a trial on a unit (ako.unit): a list out of "build", "check" and "time". `plan` has check, time and
---limits as docs/protocol.md describes them. With `incumbent`, another unit, and plan.time.pairs the two are timed in
---turn. Returns the result.
---@param unit any
---@param steps any
---@param plan any
---@param incumbent? any
function Evaluator:trial(unit, steps, plan, incumbent) end

---Screens units against an incumbent. `plan` has check, limits and time with time.screen. Returns the answer.
---@param units any
---@param incumbent any
---@param plan any
function Evaluator:screen(units, incumbent, plan) end

---One step alone.
---@param unit any
---@param plan any
function Evaluator:build(unit, plan) end

---@param unit any
---@param plan any
function Evaluator:check(unit, plan) end

---@param unit any
---@param plan any
function Evaluator:time(unit, plan) end

---Attacks the task it was given: `request` has seed, other, limit and tolerances as docs/protocol.md describes them.
---Returns the answer, also when the reference is at fault.
---@param request { seed: integer, other: integer, limit?: integer, tolerances?: { atol: number, rtol: number }[] }
---@return table? answer, string? message, ako.Code? code
function Evaluator:attack(request) end

---Stops it and everything below it; closing twice is fine.
function Evaluator:close() end

---@class ako.advice
local advice = {}

---What `try` could not measure stays in the workspace: it is the user's work, and no verdict speaks against it.
---@param record ako.Record
---@return boolean
function advice.is_unjudged_edit(record) end

---What is next after a record that has its verdict. `best` is the best before it, nil for a first trial; `log` what the
---user calls the file with the compiler's words, nil where it said nothing.
---@param record ako.Record
---@param best ako.Record?
---@param log string?
---@return string
function advice.next(record, best, log) end

---The account of a whole session.
---@class ako.account
local account = {}

---The account of a session (ako.pick's) as a JSON object: session, task, policy, device, workspace, branch, began_s,
---worked_s, finished ({ ended, verified }, or null), baseline, best, counts, trials (as `log` has them), predictions,
---notes, overrides.
---@param state table
---@return table
function account.object(state) end

---The account, from its object, as lines for a terminal.
---@param object table
---@return string[]
function account.lines(object) end

---The same as lines of Markdown.
---@param object table
---@return string[]
function account.markdown(object) end

---The verbs by which somebody adds to a session by hand, without measuring anything.
---@class ako.amend
local amend = {}

---note [N]: words or a file of the author's, about trial N or the last one; before the first trial they begin a
---session that it goes on with.
---@param ctx table
---@return integer
function amend.note(ctx) end

---keep N: by hand, trial N counts as kept and is the best.
---@param ctx table
---@return integer
function amend.keep(ctx) end

---revert N: by hand, trial N does not count; the one kept before it is the best again.
---@param ctx table
---@return integer
function amend.revert(ctx) end

---init: makes the workspace ready for its first trial and measures nothing: the repository, the solution's files and
---the policy's scaffold, where they are missing. What is there stays as it is.
---@param ctx table
---@return integer
function amend.init(ctx) end

---Attacks the task itself, before anything is optimized.
---@class ako.attack
local attack = {}

---From the loosest to the tightest tolerance: rtol from the tolerance's own downwards, atol with it in the outputs'
---scale (`rms`, nil where all are zero) and never above its own; exact at last. `decades`: how far down, without the
---exact one; nil: as far as makes sense.
---@param tolerance table
---@param rms? number
---@param decades? integer
---@return { atol: number, rtol: number }[]
function attack.ladder(tolerance, rms, decades) end

---Attacks the task that the evaluator has been given, as ako.plan resolved it. `weak` is empty for a good task;
---`tolerance` is one under which nothing is weak any more, `scaled` the task's in the scale of its outputs, `advice`
---one line on what to do.
---@param evaluator any
---@param task any
---@param plan any
---@return { weak: { name: string, reason: string, what: string, remedy: string, tensor?: string, of?: string, workloads: string[], exact?: boolean }[], warnings: { name: string, reason: string }[], tolerance?: table, scaled?: table, advice?: string }? found, string? message, ako.Code? code
function attack.examine(evaluator, task, plan) end

---Whether no policy can overlook it: a reference that fails, or a golden that nothing can match.
---@param weak any
---@return boolean
function attack.is_beyond_opinion(weak) end

---Whether a task with these weaknesses is refused under a policy (correctness.weak, and for a problem in Python
---correctness.weak_problem).
---@param weak any
---@param policy any
---@param task any
---@return boolean
function attack.is_refused(weak, policy, task) end

---What is weak in one line, with figures of the first. `most`: how many are named.
---@param weak table[]
---@param most integer
---@return string
function attack.summary(weak, most) end

---Before any optimizing: the task attacked, the original kernel tried, the machine looked at.
---@class ako.doctor
local doctor = {}

---Attacks the task of `started`, { evaluator, task, plan, policy, opt }; `given`: the unit of the original kernel. Adds to
---the account. False where nothing more can be told of the task. Raises faults.
---@param found table
---@param started table
---@param given? table
---@return boolean
function doctor.attack(found, started, given) end

---Adds the machine's findings to an account, on facts of ako.machine.
---@param found table
---@param facts table
function doctor.add_machine(found, facts) end

---Adds what is known of the interpreter to an account; `given` as for ako.python's find.
---@param found table
---@param given? string
function doctor.add_interpreter(found, given) end

---Examines what ako.start has resolved. Returns the account. Raises faults.
---@param started any
---@return table
function doctor.examine(started) end

---The same where nothing could be started, for the reason and code given: the machine alone, and the interpreter of a
---task in Python. ctx as for ako.start.
---@param ctx any
---@param problem string
---@param code ako.Code
---@return table
function doctor.look_around(ctx, problem, code) end

---The doctor for a folder of problems in Python.
---@class ako.doctor_folder
local doctor_folder = {}

---Starts an evaluator for the problems of the folder that is the task; ctx as for ako.start. What is returned is to be
---closed. Raises faults.
---@param ctx any
---@return table
function doctor_folder.start(ctx) end

---Examines the problems, the interpreter and the machine. Returns the account (ako.diagnosis). Raises faults.
---@param started table
---@return table
function doctor_folder.examine(started) end

---The doctor's account of a task and a machine: findings { name, state, text, advice }.
---@class ako.diagnosis
local diagnosis = {}

---An account with nothing in it yet: { code (for the exit), task, device, checks (findings), weak, tolerance, refused,
---lacking }.
---@param task string
---@param device table
---@return table
function diagnosis.blank(task, device) end

---Adds a finding to an account.
---@param found table
---@param finding { name: string, state: string, text: string, advice: string? }
function diagnosis.put(found, finding) end

---The same, of its members.
---@param found table
---@param name string
---@param state string
---@param text string
---@param advice? string
function diagnosis.add(found, name, state, text, advice) end

---The first reason not to go on is the one that the exit code gives.
---@param found table
---@param code integer
function diagnosis.give_code(found, code) end

---The JSON form of an account.
---@param found table
---@return table
function diagnosis.object(found) end

---At most ten lines for people, the worst first.
---@param found table
---@return string[]
function diagnosis.lines(found) end

---A start without an evaluator, for verbs that measure nothing.
---@class ako.idle
local idle = {}

---What ako.start.new gives, with nothing that could measure. `known`: the device of the session's first line, nil
---without a session. Raises faults.
---@param ctx table
---@param known? table
---@return ako.start.Start
function idle.start(ctx, known) end

---The log of a session: a line for each trial, made from its records alone.
---What a killed write leaves: a file of its own beside the one that it was to replace.
---@class ako.litter
local litter = {}

---Removes it from a folder, not from those below. Only for who may write there alone.
---@param folder string
function litter.sweep(folder) end

---The same for the folders that hold these files of a workspace.
---@param folder string
---@param files string[]
function litter.sweep_beside(folder, files) end

---The log of a session: a line for each trial, made from its records alone.
---@class ako.log
local log = {}

---An entry: the JSON form of a record in short. It has the members of report.object that are about the whole of it,
---and `gain`, by how many per cent it was faster than the best before it.
---@param record ako.Record
---@return table
function log.entry(record) end

---What was tried, in words: the hypothesis, else the candidate's name.
---@param record ako.Record
---@return string
function log.name(record) end

---A verdict in words, with who has given it.
---@param record ako.Record
---@return string
function log.verdict(record) end

---"1.92x over the original (1.90x to 1.94x)": the speed-up of an entry, or of one of its workloads, over `name` (in
---words: `words`, "the original" for "original"); nil where it is not known.
---@param entry table
---@param name "original"|"reference"|"best"
---@param words? string
---@return string?
function log.over(entry, name, words) end

---An override as a line of its session's journal has it, in words: "keep (forced), 2030-01-02 03:04:05 UTC: why".
---@param line table
---@return string
function log.override(line) end

---A gain or a prediction: "+2.1 %"; "-" for nil.
---@param gain? number
---@return string
function log.percent(gain) end

---What a line says of an entry, in cells; of nil, the head of the columns.
---@param entry table
---@return string[]
function log.cells(entry) end

---The entries of the last `most` trials (nil: of all), oldest first.
---@param history ako.Record[]
---@param most? integer
---@return ako.Record[]
function log.newest(history, most) end

---A note as one line: "[topic] text (file)".
---@param note ako.Note
---@return string
function log.note(note) end

---The log as lines, with a head, for these entries; `notes`, where given, stand behind their trials.
---@param entries table[]
---@param notes? ako.Note[]
---@return string[]
function log.lines(entries, notes) end

---The log as a JSON object: session, trials (entries), and notes where they are given.
---@param name string
---@param entries table[]
---@param notes? ako.Note[]
---@return table
function log.object(name, entries, notes) end

---Whether this machine can build, check, time and profile, and what disturbs it.
---@class ako.machine
local machine = {}

---The facts that `judge` wants.
---@param options { device: table, versions?: table[], folder?: string, needs_bytes?: integer, wants_gpu?: boolean }
---@return table
function machine.look(options) end

---The findings on these facts, in reading order; state is "ok", "warning", "bad" (a trial cannot run) or "unknown".
---@param facts table
---@return { name: string, state: string, text: string, advice?: string }[]
function machine.judge(facts) end

---@class ako.exits
local exits = {}

---For a failure of the outside world, by its code ("NOTFOUND").
---@param code string
function exits.of_code(code) end

---For the record of a trial (ako.trial).
---@param record ako.Record
function exits.of_record(record) end

---@class ako.evidence
local evidence = {}

---Writes a record and what is `given` of sources, build_log, samples, bench_log and proposer_log into `folder`. Raises
---faults.
---@param folder string
---@param record ako.Record
---@param given table
function evidence.write(folder, record, given) end

---Extensions of PyTorch in C++ or CUDA, as far as the text of a solution tells.
---@class ako.extension
local extension = {}

---True for a source in C++ or CUDA that is an extension as it is: a solution in Python's lane.
---@param source { name: string, text: string }
---@return boolean
function extension.is_one(source) end

---Whether a solution's text may ask for some: a build that takes long.
---@param text string
---@return boolean
function extension.is_asked_for(text) end

---@class ako.fault
local fault = {}

---Raises a fault. `code` names its kind ("INVALID" when nil).
---@param code string
---@param format string
---@param ... any
function fault.raise(code, format, ...) end

---Raises an INVALID fault unless `condition` holds; returns the condition.
---@param condition any
---@param format string
---@param ... any
function fault.check(condition, format, ...) end

---Returns `result`; raises what came in its place, `nil, problem, code`, as a fault.
---@param result any
---@param problem? string
---@param code? string
function fault.must(result, problem, code) end

---As `must`, for what the program wrote itself: when that is not found it is damage, not a wrong word of the user's.
---@param result any
---@param problem? string
---@param code? string
function fault.ours(result, problem, code) end

---Calls f(...). Returns its results, or `nil, message, code` when it raised a fault.
---@param f function
---@param ... any
function fault.catch(f, ...) end

---Calls f(...) and returns its results; a fault inside gets `prefix` put before its message and goes on.
---@param prefix string
---@param f function
---@param ... any
function fault.within(prefix, f, ...) end

---Wraps f so that its faults come back as `nil, message, code`.
---@param f function
function fault.returns(f) end

---The known name nearest to `name` when it is close enough to be a slip of the pen, as " (did you mean 'B'?)";
---"" otherwise. `known` is a set (name -> anything) or an array of names.
---@param name string
---@param known table
function fault.nearest(name, known) end

---Edits (insert, delete, replace, swap of neighbours) that turn one string into the other: the restricted
---Damerau-Levenshtein distance.
---@param a any
---@param b any
function fault.distance(a, b) end

---@class ako.format
local format = {}

---A duration in ns with three or four digits and its unit: "3.928 ms"; "-" for nil.
---@param ns integer
function format.duration(ns) end

---A time in seconds since 1970: "2030-01-02 03:04:05 UTC".
---@param time_s integer
---@return string
function format.date(time_s) end

---A ratio: "1.92x"; "-" for nil.
---@param value any
function format.ratio(value) end

---A number as %g has it, but with as many digits as give it back: "10", "1.0000001".
---@param value number
---@return string
function format.exact(value) end

---The half width of an interval round its median: "+-0.2%"; "" when there is none.
---@param figures any
function format.spread(figures) end

---Cuts text to `width` characters, the last of them "~" when something is missing.
---@param text string
---@param width integer
function format.cut(text, width) end

---Text without the blanks round it. A pattern that looks for both ends at once takes the square of a run of blanks.
---@param text string
---@return string
function format.trim(text) end

---Text filled up with blanks to `width` characters, on its left when `right` is set.
---@param text string
---@param width integer
---@param right boolean?
function format.pad(text, width, right) end

---Cuts text to `bytes` bytes at the end of a character, "~" behind what is left when something is missing.
---@param text string
---@param bytes integer
---@return string
function format.fit(text, bytes) end

---Text of any bytes as valid UTF-8: every byte that is none becomes "\\xNN". JSON and records take nothing else.
---@param text string
function format.utf8(text) end

---Text from anywhere as what may stand on one line of a terminal: no line breaks, no control characters, no end of it.
---@param text string
---@return string
function format.line(text) end

---The last line of a text that has words, as `line` gives it, or nil: where most programs say what went wrong.
---@param text string
---@return string?
function format.last_line(text) end

---Text from anywhere with its lines and tabs, but no other control characters.
---@param text string
---@return string
function format.text(text) end

---"1 trial", "2 trials"
---@param n integer
---@param word string
function format.count(n, word) end

---A gate is asked before a trial begins: nil, or what is missing and how to supply it.
---@alias ako.Gate fun(run: table, proposal: table, opt?: table): string?
---@alias ako.Topics string|string[] a note's topic, or a list of alternatives

---@class ako.gates
local gates = {}

---All of these gates: the first reason counts; without one, the facts of all of them.
---@param ... ako.Gate
---@return ako.Gate
function gates.all(...) end

---A gate that is asked from trial `first` on; 0 is the baseline, 1 the first edit.
---@param first integer|string
---@param gate ako.Gate
---@return ako.Gate
function gates.from(first, gate) end

---The newest note with one of these topics that has words or a file; with `evidence`, only one that names a file or
---begins with "unavailable" and says why.
---@param run table
---@param topics ako.Topics
---@param where? { first?: integer, last?: integer, evidence?: boolean } the trials it may be about
---@return table? note
function gates.find(run, topics, where) end

---Notes that must exist; `evidence` are those topics for which a file or a reason is wanted.
---@param given { topics: ako.Topics[], about?: "start"|"last"|"best", evidence?: ako.Topics[], text?: string }
---@return ako.Gate
function gates.notes(given) end

---The trial at which the present stall was reached: `count` trials in a row without a gain of more than `share`. It
---ends with a gain, or when is_over(trial) says so. Nil without a stall.
---@param run table
---@param count integer
---@param share number
---@param is_over? fun(trial: integer): boolean
---@return integer? trial
function gates.stall(run, count, share, is_over) end

---In a stall, notes with the topics `needs` are wanted that are newer than it.
---@param given { count: integer|string, share: number|string, needs: ako.Topics[], evidence?: ako.Topics[] }
---@return ako.Gate
function gates.stalled(given) end

---The filled-in fields of a text for people, "- Name: value" or a heading with what follows: lower-case name -> value.
---@param text string
---@return table<string, string>
function gates.fields(text) end

---A path with the run's names in it: {n} the next trial, {v} one more, {task}, {kernel}.
---@param pattern string
---@param run table
---@return string
function gates.path(pattern, run) end

---A file of the workspace that must exist and have these fields filled in.
---@param given { path: string, fields?: string[], text?: string }
---@return ako.Gate
function gates.file(given) end

---True when nobody proposes anything (no sources) and what is missing is only asked for, as `brief` does.
---@param proposal table
---@return boolean
function gates.is_question(proposal) end

---From the first edit on a hypothesis is wanted; with `candidates` the name of a candidate's file is enough.
---@param given? { candidates?: boolean }
---@return ako.Gate
function gates.hypothesis(given) end

---From the first edit on a prediction is wanted.
---@return ako.Gate
function gates.prediction() end

---At most `hunks` places may differ from the best, unless the hypothesis begins with "rewrite: " and a name.
---@param given { hunks: integer|string }
---@return ako.Gate
function gates.one_change(given) end

---@class ako.help
local help = {}

---Options (specs of ako.options) as help shows them, a line or two each.
---@param specs table[]
---@return string
function help.options(specs) end

---Two lines for who typed nothing.
function help.usage() end

---The text of `ako-lua --help`.
---@param verbs any
---@param host_specs any
function help.program(verbs, host_specs) end

---The help of a policy.
---@param policy any
---@param file string
---@param specs any
---@param verbs any
function help.policy(policy, file, specs, verbs) end

---The help of one verb of a policy.
---@param verb table
---@param file string
---@return string
function help.verb(verb, file) end

---The JSON object of one verb's --help.
---@param verb table
---@return string
function help.verb_object(verb) end

---What a valid policy defines.
---@param policy any
---@param file string
---@param specs any
function help.check(policy, file, specs) end

---The JSON object of the verbs check and help (and of --help behind a policy): name, description, file, options with
---their defaults, hooks and numbers. `verbs` where they belong to it.
---@param policy any
---@param file string
---@param specs any
---@param verbs any
---@return string
function help.policy_object(policy, file, specs, verbs) end

---The same for `ako-lua --help`.
---@param verbs any
---@param host_specs any
---@return string
function help.program_object(verbs, host_specs) end

---The same for `ako-lua --list`.
---@param entries any
---@return string
function help.list_object(entries) end

---Names and descriptions of policies; entries are { name, description } or { name, problem = text }.
---@param entries any
function help.list(entries) end

---What the program is made of and what it found on this machine.
---@param as_json any
function help.version(as_json) end

---@class ako.inputs
local inputs = {}

---Checks that the files of a resolved task's inputs are there and hold the dtype and the shape that every workload
---wants. Returns true; or nil, a message and a code.
---@param task any
function inputs.check(task) end

---@class ako.intact
local intact = {}

---What is wrong with a line of a journal (a table), in words; nil when nothing is. Kinds that this version does not
---know are left alone. `first_timed` is an earlier trial of the session that has figures, nil without: later ones have
---the same workloads.
---@param line table
---@param first_timed table?
---@return string?
function intact.line(line, first_timed) end

---Raises CORRUPT, with the file's name, unless `samples` are what ako.trial wrote for these workloads of a record: an
---object, with as many pairs of each workload as of the others, or none.
---@param samples any
---@param workloads table[]
---@param file string
function intact.check_samples(samples, workloads, file) end

---@class ako.keyline
local keyline = {}

---The lines of all fields that `path` ({ "timing", "launches" }) names. The tables further out may have any name: a
---policy may be wrapped in extend { }.
---@param text string
---@param path string
function keyline.lines(text, path) end

---@class ako.launch
local launch = {}

---Reads the `//!` lines of a source. Returns { file, launch = {...}, scratch = {...}, tune = {...} } with expressions
---as trees (ako.axes), or nil and a message with file and line. A source without such lines has empty lists.
---@param text string
---@param file string
function launch.parse(text, file) end

---The defaults of the tunables, the first value of each: { BLOCK = "128" }.
---@param spec table
function launch.first_point(spec) end

---A kernel's name with the tunables in its template arguments replaced by their values.
---@param name string
---@param point any
function launch.instance(name, point) end

---The arguments of an entry point, given by name, for one workload, as docs/protocol.md has them. Raises faults.
---@param list any
---@param task any
---@param workload any
function launch.arguments(list, task, workload) end

---The launches of a parsed file for one workload of a task: { scratch = {...}, calls = {...} } as docs/protocol.md has
---them. `point` gives each tunable's value (default: its first). Returns nil and a message with file and line.
---@param spec table
---@param task any
---@param workload any
---@param point any
function launch.bind(spec, task, workload, point) end

---Processes that a killed run has left at work.
---@class ako.leftovers
local leftovers = {}

---Ends all processes that have these entries ("NAME=value") in their environment. Raises BUSY where this program itself is
---one of them, or one cannot be ended.
---@param marks string[]
---@param what string whose they are, in words
function leftovers.stop(marks, what) end

---@class ako.lines
local lines = {}

---A list whose lines read(at) gives, `at` being where one begins; `text` is what lines.text said of an earlier list.
---@param read fun(at: integer): table
---@param text? string
---@return table[]
function lines.new(read, text) end

---True for a list of this module's.
---@param value any
---@return boolean
function lines.is_list(value) end

---Adds a line that begins at `at`.
---@param list table[]
---@param line table
---@param at integer
function lines.add(list, line, at) end

---Says that item `i` is another one now, for views that have a copy of it.
---@param list table[]
---@param i integer
function lines.touch(list, i) end

---The places as a text, for lines.new.
---@param list table[]
---@return string
function lines.text(list) end

---A list of copies of the items, each made by copy(item) when it is first asked for and kept from then on.
---@param list table[]
---@param copy fun(item: table): table
---@return table[]
function lines.view(list, copy) end

---The verbs that look back and write nothing.
---@class ako.look
local look = {}

---status: where the newest session of the workspace, or the one named, stands.
---@param ctx table
---@return integer
function look.status(ctx) end

---brief: all that somebody without a memory needs to go on, in 2 KB.
---@param ctx table
---@return integer
function look.brief(ctx) end

---log: a line for each trial.
---@param ctx table
---@return integer
function look.log(ctx) end

---show N: all that is known of a trial.
---@param ctx table
---@return integer
function look.show(ctx) end

---diff N [M]: the patch that makes trial N of what it was judged against, or of trial M. A patch that is empty is said
---so on stderr: what is on stdout can be applied.
---@param ctx table
---@return integer
function look.diff(ctx) end

---report: the account of the whole session.
---@param ctx table
---@return integer
function look.report(ctx) end

---Pieces of logs that several policies render: plain text for people, the same in every terminal and in Markdown.
---@class ako.logbook
local logbook = {}

---A chart of points as lines: `height` rows of y from the least to the greatest, a column for each point, its label
---below. size: height (8), columns (15: of more points some are left out), unit ("x", behind y's figures). No points, no
---lines.
---@param points { label: string, y: number }[]
---@param size? { height?: integer, columns?: integer, unit?: string }
---@return string[] lines
function logbook.chart(points, size) end

---A table in Markdown. Bars in a text are escaped.
---@param names string[]
---@param rows any[][]
---@return string[] lines
function logbook.table(names, rows) end

---@class ako.loop
local loop = {}

---A loop over a session. `parts`: policy, opt, hook(name, ...) (calls a hook of the policy), session (ako.session),
---evaluator (ako.evaluator, its task given), task (resolved), plan (ako.plan), progress (ako.progress), protected()
---(the hashes and marks of ako.protect), restart() (gives a fresh evaluator with the same task when the old one died).
---@param parts any
function loop.new(parts) end

---@class ako.loop.Loop
local Loop = {}

---Why the policy does not let the session be ended by hand now, with `why` in words, or nil.
---@param why? string
---@return string?
function Loop:finish_refusal(why) end

---What hooks see of the run.
---@return ako.Run
function Loop:view() end

---Why the policy lets no trial begin now, nil when it does. info: as for `try`. Nothing is recorded; the facts that the
---gate gives about a proposal that may begin go into info.facts, and with that into the trial's record.
---@param info any
---@return string?
function Loop:refusal(info) end

---Renders the policy's logs into the workspace. Returns the paths of those that hold what was rendered.
---@return string[]
function Loop:render_logs() end

---After every change of the history: the policy's logs, and the commits that belong on the session's branch.
function Loop:publish() end

---The end of a session: the best verified (when there was anything to choose from), the last line written, the logs
---rendered, the policy's last commit and tag. An interrupted one stays open. Returns the record to report on.
---@param ended? string why
---@return ako.Record
function Loop:finish(ended) end

---Why nothing can be tried any more, whatever the policy thinks, or nil.
---@return string?
function Loop:is_over() end

---Why the loop is to end now, or nil.
---@return string?
function Loop:stop_reason() end

---A trial of a candidate (ako.proposer), which is put in the place of the best unless its proposer has done so. `screen`
---is what a screening said of it; `error_share`, the share of the policy's error that a decision on it may have (1).
---Nil and why the policy's gate refuses it: then the best is back, nothing recorded.
---@param candidate table
---@param screen? table
---@param error_share? number
---@return ako.Record? record, string? refused
function Loop:attempt(candidate, screen, error_share) end

---The unit of a candidate, nil for one whose trial would end before anything runs.
---@param candidate table
---@return table?
function Loop:unit_of_candidate(candidate) end

---Screens units against the best, whose files lie in the workspace. Returns the evaluator's answer; or nil and why the
---screening failed as a whole.
---@param units table[]
---@param numbers table
---@return table? answer, string? message
function Loop:screen(units, numbers) end

---Records a candidate that a screening has dropped, { candidate, unit, result (the screening's), screen }, as a trial
---of its own. Returns the record.
---@param entrant table
---@param reason string
---@return ako.Record
function Loop:dismiss(entrant, reason) end

---One trial of the workspace's present files. info: candidate (its name), hypothesis, predict (by how many per cent its
---author expects it to be faster), label, problem (why there is nothing to try: it is REJECTED for that), point (of a
---tune space) and screen (what a screening said of it), for the record. Returns its record; a candidate that is not kept
---is taken out of the workspace again, unless its files were changed meanwhile (.left_alone says so).
---@param info any
function Loop:try(info) end

---The name of a protected file that is not what it was when the session began, or nil.
---@return string?
function Loop:changed_protected() end

---Raises BUSY unless the solution is what the loop left there, the best.
function Loop:check_best() end

---A trial for each candidate that propose(self) gives (ako.proposer). Returns why it ended. Meanwhile .refused says why
---no trial came of the last proposal, and of how many in a row: { reason, count, most }, nil after a trial.
---@param propose fun(loop: any): table?, string?
---@return string ended
function Loop:run(propose) end

---Checks that the workspace holds the best's bytes and measures them once more, as often as the policy's timing.verify
---says. Returns the record of that (of several their mean, ako.trial), with .trial the best's number; it changes
---nothing that was decided.
function Loop:verify() end

---A record's verdict: the policy's, where there is anything to ask it.
---@class ako.judging
local judging = {}

---The verdict and its reason; those of a policy that failed, and its fault behind them.
---@param loop ako.loop.Loop
---@param record ako.Record
---@return string verdict, string reason, any? fault
function judging.judge(loop, record) end

---Which solution belongs to which problem of a folder, by the names of their files.
---@class ako.matching
local matching = {}

---What a path says of the file's problem.
---@param path string
---@return { path: string, level?: integer, number?: integer, sample?: integer, name?: string }
function matching.label(path) end

---Matches two lists of file names by number or by name. What may belong to several problems belongs to none and is in
---`ambiguous`.
---@param problems string[]
---@param solutions string[]
---@return { pairs: { problem: string, solution: string, sample?: integer }[], several: { problem: string, solutions: string[] }[], ambiguous: { solution: string, problems: string[] }[], unsolved: string[], unknown: string[] }
function matching.match(problems, solutions) end

---From the workspace's files to a record without a verdict.
---@class ako.measuring
---@field ALL_STEPS string[]
local measuring = {}

---What a record says beside the result (ako.trial). `info` stands for the open trial where none is open.
---@param loop ako.loop.Loop
---@param info? table
---@return table
function measuring.context(loop, info) end

---Says in a record what a unit is written for and how it runs.
---@param record ako.Record
---@param given table
function measuring.name_unit(record, given) end

---The name of a protected file that is not what it was when the session began, or nil.
---@param loop ako.loop.Loop
---@return string?
function measuring.changed_protected(loop) end

---Why sources are not tried and a code for it; nil when they are.
---@param loop ako.loop.Loop
---@param info table
---@param sources { name: string, text: string }[]
---@return string? reason, string? code
function measuring.admit(loop, info, sources) end

---The plan's steps with the limits of a candidate.
---@param loop ako.loop.Loop
---@return table
function measuring.steps(loop) end

---Before there is anything to build on: why a task is refused that null kernels pass, or nil. A weakness that the policy
---only warns of is loop.weakness.
---@param loop any
---@param remark fun(topic?: string, text: string) is told what is to be said
---@return string?
function measuring.examine(loop, remark) end

---Says in a record what the task's weakness has changed.
---@param loop any
---@param record table
function measuring.note_weakness(loop, record) end

---The unit of a record's sources, with which others are timed in turn.
---@param loop ako.loop.Loop
---@param record ako.Record
---@return table
function measuring.unit_of(loop, record) end

---An evaluator that has died is started again, so that the next trial finds a good one.
---@param loop ako.loop.Loop
---@param code string
function measuring.lost(loop, code) end

---Asks the evaluator for a trial: a unit, the names of the steps, and numbers of pairs with an incumbent or nothing.
---While somebody disturbs the measurement it asks again, as often as the policy says; then it is given up.
---@param loop ako.loop.Loop
---@param ... any
---@return table result
function measuring.ask(loop, ...) end

---The record of the workspace's present files, without a verdict; and what is to be kept beside it.
---@param loop ako.loop.Loop
---@param info table
---@return ako.Record record, table evidence
function measuring.measure(loop, info) end

---The same with what a first look costs, where the policy and its options want one; then .signal says so.
---@param loop ako.loop.Loop
---@param info table
---@return ako.Record record, table evidence
function measuring.look(loop, info) end

---What others see of a session: the policy's logs in the workspace, commits on the session's branch, a tag.
---@class ako.publishing
local publishing = {}

---Renders the policy's logs into the workspace. Returns the paths of those that hold what was rendered.
---@param loop ako.loop.Loop
---@return string[]
function publishing.render_logs(loop) end

---After every change of the history: the policy's logs, and the commits that belong on the session's branch.
---@param loop ako.loop.Loop
function publishing.publish(loop) end

---The first line of the trial's commit, where the policy wants its own.
---@param loop ako.loop.Loop
---@param record ako.Record
---@return string?
function publishing.subject(loop, record) end

---The end as others see it: what the policy does itself, the last logs, its last commit and tag.
---@param loop ako.loop.Loop
function publishing.finish(loop) end

---The end of a session: the best restored byte for byte and measured once more.
---@class ako.verifying
local verifying = {}

---Checks that the workspace holds the best's bytes and measures them once more, as often as the policy's timing.verify
---says. Returns the record of that (of several their mean, ako.trial), with .trial the best's number; it changes
---nothing that was decided.
---@param loop ako.loop.Loop
---@return ako.Record
function verifying.verify(loop) end

---What hooks of a policy are given of the run, and how what they say is taken.
---@class ako.view
local view = {}

---A copy of a plain value: what hooks may do to it changes nothing.
---@generic T
---@param value T
---@return T
function view.copy(value) end

---What a hook gives as its reason, words or nothing; anything else is a mistake in the policy.
---@param hook string
---@param value any
---@return string?
function view.words(hook, value) end

---What hooks see of the run.
---@param loop ako.loop.Loop
---@return ako.Run
function view.of(loop) end

---Which session a verb that measures goes on with, and how a new one begins.
---@class ako.opening
local opening = {}

---Raises a fault where a session that goes on from call to call would not find its workspace again: for the bundled
---example, and for a task that lies elsewhere.
---@param started ako.start.Start
function opening.check_place(started) end

---Raises a fault where a session was begun with another task or policy than these: what they would judge and write is
---not of one kind with what is there. Nothing has changed then, and nothing is voided.
---@param started ako.start.Start
---@param state table
function opening.check_same(started, state) end

---A new session for a verb, with candidates from `source` (ako.proposer) or none. Of two that choose the same name at
---once one is refused, and chooses again. Raises faults.
---@param started ako.start.Start
---@param verb string
---@param source? table
---@return ako.session.Session
function opening.new(started, verb, source) end

---True for what `try` goes on with: sessions that it started, have a baseline and are not finished.
---@param state table
---@return boolean
function opening.is_open(state) end

---The session that `try` goes on with: the one named, or the newest open one of this workspace; a new one where there
---is none. Raises faults.
---@param started ako.start.Start
---@return ako.session.Session
function opening.to_try(started) end

---The session that `run` begins: one that has only notes yet, or a new one. Raises faults.
---@param started ako.start.Start
---@param source? table
---@return ako.session.Session
function opening.to_run(started, source) end

---@class ako.options
local options = {}

---Applies a check to a value: true, or false and why not. A check that is nil allows everything.
---@param value any
---@param check any
function options.check(value, check) end

---What a check allows, for help: ": a, b", ", at least 1", or "" when it cannot be said.
---@param check any
function options.describe_check(check) end

---The kind of option whose default is `value`; nil when there is none such.
---@param value any
function options.kind_of(value) end

---Value of a text for a spec, or raises a fault.
---@param spec table
---@param text string
function options.read(spec, text) end

---Reads args[first...]. `groups` maps group names to lists of specs. With `only_options` it stops at the first word
---that is none. `explain` may have a better message for an unknown option. Returns values by group and key, the other
---words, and the index behind what was read. Raises faults.
---@param args string[]
---@param first integer
---@param groups any
---@param only_options any
---@param explain? fun(name: string, text?: string, following?: string, near: string): string?
function options.parse(args, first, groups, only_options, explain) end

---Raises the fault of an unknown option.
---@param name string
---@param text? string
---@param following? string
---@param known table
---@param explain? fun(name: string, text?: string, following?: string, near: string): string?
function options.unknown(name, text, following, known, explain) end

---@class ako.output
local output = {}

---Writes a text as it is. Returns the exit code of a verb that has done what it was asked for. Raises faults.
---@param ctx table
---@param text string
---@return integer
function output.text(ctx, text) end

---The same for a list of lines.
---@param ctx table
---@param lines string[]
---@return integer
function output.lines(ctx, lines) end

---The same for a table, as one line of JSON.
---@param ctx table
---@param object table
---@return integer
function output.object(ctx, object) end

---The object where --json is wanted, or else the text.
---@param ctx table
---@param object table
---@param text string
---@return integer
function output.either(ctx, object, text) end

---@class ako.path
local path = {}

---The extension without its dot, in lower case; "" when there is none.
---@param name string
function path.extension(name) end

---True for the path of a file that a policy may have in the workspace: a text, inside it, spelled plainly, in no .git.
---@param name any
---@return boolean
function path.is_plain(name) end

---True for a name that records can hold: UTF-8 without control characters.
---@param name string
function path.is_text(name) end

---What is wrong with a text that is to be JSON, in words ("is not UTF-8 (byte 5)"); nil for nothing.
---@param text string
---@return string?
function path.fault_of_text(text) end

---What is wrong with the name of a source file, its last part, in words; nil for nothing.
---@param name string
---@return string?
function path.fault_of_name(name) end

---A path as it is shortest without another meaning: "./sub//x.py" is "sub/x.py". A ".." stays, since what stands before
---it may be a link.
---@param name string
---@return string
function path.shortest(name) end

---What lies there instead of a file, in words ("is a folder"); nil for a file, and for nothing at all.
---@param name string
---@return string?
function path.no_file(name) end

---The text of a file that somebody wrote: a plain one of at most 16 MB, so that no pipe, device or mistake for a source
---is waited for.
---@param file string
---@return string? text, string? message, ako.Code? code
function path.read_source(file) end

---True for a relative path that stays inside its folder: no "..", not absolute, not empty.
---@param name string
function path.is_inside(name) end

---Which session a verb means that measures nothing, and what is known of it without an evaluator.
---@class ako.overriding
local overriding = {}

---The best of a session (session.read) once `record` has this verdict ("keep" or "revert"). Raises a fault for one
---that would change nothing, or leave nothing to go on from.
---@param state table
---@param record ako.Record
---@param verdict string
---@return ako.Record
function overriding.best(state, record, verdict) end

---@class ako.pick
local pick = {}

---True for the state of a session that can be gone on with.
---@param state table
---@return boolean
function pick.is_unfinished(state) end

---How the program is called here, as far as it goes with every verb: with the policy and what says which task,
---workspace, device and session are meant.
---@param ctx table
---@return string
function pick.command(ctx) end

---The workspace of a verb: { repo, folder }; nil where no repository holds it.
---@param ctx table
---@return table?
function pick.workspace(ctx) end

---The session that --session names, or the workspace's newest one: its .state (session.read), whose fields it shows as
---its own, with repo, ws, paths and folder; nil where there is none. What is wrong with others is said on stderr; a newest one that cannot be read is a fault.
---`accept(state)`: for which of them that holds.
---@param ctx table
---@param accept? fun(state: table): boolean
---@return table?
function pick.find(ctx, accept) end

---The same; a NOTFOUND fault where there is none.
---@param ctx table
---@return table
function pick.session(ctx) end

---The context for a verb that goes on with a session: in that one's workspace, with its task where none is named.
---@param ctx table
---@param state table
---@return table
function pick.own(ctx, state) end

---The context with the options on which the results of a session stand (ako.policy), where the command line has none:
---of the session that --session names, or else of the workspace's newest one for which accept(state) holds; as it is
---without a session.
---@param ctx table
---@param accept fun(state: table): boolean
---@return table
function pick.as_begun(ctx, accept) end

---The context where a task is named or lies here; else with the task of the session that --session names or of the
---workspace's newest one, so that a session's task is named once.
---@param ctx table
---@return table
function pick.going_on(ctx) end

---What hooks get of a session's run, made from its journal alone; of a nil state, a session that has not begun.
---@param ctx table
---@param state table?
---@return ako.Run
function pick.run(ctx, state) end

---@class ako.place
local place = {}

---The place of a workspace, whose repository was opened there, as a text.
---@param repo ako.git.Repo
---@return string
function place.of(repo) end

---True where a session with this first line belongs to a workspace ({ repo, folder }): it has the path; or the place,
---while at its path there is nothing of this repository any more.
---@param header table
---@param ws any
---@return boolean
function place.is_of(header, ws) end

---@class ako.plan
local plan = {}

---The steps' numbers for a policy. `seed` (from the command line) replaces the policy's. The correctness trials take
---seeds that follow from it (ako.seeds); timed inputs come from seeds that nobody can know.
---@param policy any
---@param seed integer
---@param in_python? boolean the task's solutions are
---@param given? integer[] these seeds instead
function plan.steps(policy, seed, in_python, given) end

---The same numbers for a candidate, once it is known what the steps took the original (`costs_ms` of its record): no
---step may take longer than the budget's `factor` times that, if it has one; `least` seconds are always granted.
---@param steps any
---@param budget any
---@param costs_ms any
function plan.for_candidate(steps, budget, costs_ms) end

---The numbers of a paired decision (time.pairs of docs/protocol.md), nil for a policy without. `opt` are the values of the
---policy's options, one of which may hold the threshold; `floor`, when known, is the machine's: what the best against
---itself seems to gain. Also returns the policy's own threshold when the floor has raised it.
---@param policy any
---@param opt? table
---@param floor? number
---@return table? numbers, number? raised_from
function plan.pairs(policy, opt, floor) end

---The numbers of a cheaper first look, { trials, launches, reference }, in place of the steps' own; nil for a policy
---without, and where `opt` leaves nothing to be cheaper.
---@param policy any
---@param steps any
---@param opt? table
---@return table?
function plan.signal(policy, steps, opt) end

---The steps with the numbers of a first look.
---@param steps any
---@param numbers table
---@return table
function plan.with_signal(steps, numbers) end

---The numbers of a screening of `count` candidates (time.screen of docs/protocol.md); `keep` is how many of them get a
---decision of their own: the policy's number, or for "sqrt" the root of `count`, and never more than most_finalists.
---@param policy any
---@param count integer
---@return table
function plan.screen(policy, count) end

---Everything that is decided before the first trial: { steps, tolerance, reference (unit), comparable (the reference
---runs on the solution's kind of device, so that it gives a speed-up) }, or nil, a message and a code. `opt` has the
---values of the policy's options, where there are any.
---@param policy any
---@param task any
---@param seed integer
---@param opt any
function plan.resolve(policy, task, seed, opt) end

---@class ako.policy
local policy = {}

---A policy with the fields of `own`, and of this policy where those are absent. `policy.extend { ... }` starts from
---nothing. Ends the program (exit 4) when a field is unknown or of a wrong type.
---@param ... any
function policy.extend(...) end

---The policy that a file has returned, complete and valid. `file` is what messages call the file.
---@param value any
---@param file string
function policy.adopt(value, file) end

---The policy's options as specs of ako.options, by name.
---@param given ako.Policy
function policy.option_specs(given) end

---The values of the policy's options: the given ones, else the defaults.
---@param given ako.Policy
---@param values any
function policy.option_values(given, values) end

---The values of `opt` that are not the policy's defaults, by name; nil where all are. Rules follow from them, so records
---have them.
---@param given ako.Policy
---@param opt table<string, any>
---@return table<string, any>?
function policy.changed_options(given, opt) end

---The values of those options on which all results of a session on a problem in Python stand, by name: what is asked of
---the problem, and whether the original's answers count.
---@param given ako.Policy
---@param opt table<string, any>
---@return table<string, any>
function policy.standing_options(given, opt) end

---Calls the policy's hook under the time limit of a call; the running time of the whole program starts anew. A hook
---that fails ends the program (exit 4).
---@param given ako.Policy
---@param name string
---@param ... any
function policy.call(given, name, ...) end

---@class ako.progress
local progress = {}

---options: quiet (says nothing), color ("auto", "always", "never"), console (for tests: err, is_terminal).
---@param options any
function progress.new(options) end

---@class ako.progress.Progress
local Progress = {}

function Progress:erase() end

---One line of text.
---@param text string
function Progress:note(text) end

---@param text string
---@param verdict ako.Verdict
function Progress:row(text, verdict) end

---A trial begins. info: candidate, hypothesis.
---@param number integer
---@param info any
function Progress:start(number, info) end

---An event of the evaluator: { step, done, total } redraws the bar; { step, text } is said once.
---@param event any
function Progress:event(event) end

---The line of a finished trial.
---@param record ako.Record
function Progress:trial(record) end

---The line of the best's verification.
---@param record ako.Record
function Progress:verified(record) end

---Takes the bar off the terminal.
function Progress:close() end

---@class ako.proposal
local proposal = {}

---Looks at the solution's files of a session (ako.session).
---@param session any
---@return { changed: string[], files: table<string, string>, odd: string[], problem?: string }
function proposal.inspect(session) end

---Puts the best's files back in the place of what proposal `number` has left there; nothing of that is lost. Returns
---where it is now, in words, or nil where there was nothing. Raises faults.
---@param session any
---@param number integer
---@param why string for the commit
---@return string? places
function proposal.discard(session, number, why) end

---Where candidates come from. A source is { text (for the plan), facts (for the session's first line), list? (where all
---are known), next(loop) }; next gives { name, text | files, hypothesis, predict, problem, point, in_place, log } or
---{ nothing = why }, and nil and perhaps a reason at the end.
---@class ako.proposer
local proposer = {}

---The files of a folder with this extension ("cu" or "c"), in the byte order of their names, without those of which
---`history` has a trial.
---@param folder string
---@param extension string
---@param history? ako.Record[]
---@return table? source, string? message, ako.Code? code
function proposer.folder(folder, extension, history) end

---The tune space of the kernel as it is, likewise; nil where there is none, or the policy does not say how large one may
---be.
---@param started any an ako.start
---@param history? ako.Record[]
---@return table? source
function proposer.points(started, history) end

---The source of a run, as its options say, else as a session's first line does (`header`, of one that is resumed), else
---as the policy does. Candidates of which `history` has a trial are left out. Nil where there is none but perhaps a tune
---space. Raises faults.
---@param started any an ako.start
---@param header? table
---@param history? ako.Record[]
---@return table? source
function proposer.choose(started, header, history) end

---Whether a measurement was left alone.
---@class ako.protect
local protect = {}

---What a file is called in a session, however and from where it was named: from the workspace `folder` where it lies
---in the same repository, which may be moved; else by its whole path.
---@param file string
---@param folder string
---@return string
function protect.name(file, folder) end

---The names in a session of what must stay the same one all the time: { task, policy (nil without a file) }.
---@param task any
---@param folder string
---@param policy_file? string
---@return table<string, string>
function protect.fixed(task, folder, policy_file) end

---The hashes of all these files, name -> oid ("missing" for one that is not there), and their marks, name -> a text
---that is another one after every write. task: resolved (ako.task); folder: the workspace; policy_file: its path, or
---nil; names: files and folders of the workspace that the policy protects.
---@param task any
---@param folder string
---@param policy_file? string
---@param names? string[]
---@return table<string, string> hashes
---@return table<string, string> marks
function protect.hashes(task, folder, policy_file, names) end

---The first name, in byte order, of a file with such a mark that was written to at `since_ns` or later, by the wall
---clock; nil when none was. A time yet to come is another clock's, and says nothing.
---@param marks table<string, string>
---@param since_ns integer
---@return string?
function protect.written_since(marks, since_ns) end

---The first name, in byte order, by which two such tables differ; nil when they are the same.
---@param before table<string, string>
---@param after table<string, string>
---@return string?
function protect.difference(before, after) end

---The Python interpreter of the Python lanes: which one, and what the evaluator has to know of it.
---@class ako.python
local python = {}

---The path of the interpreter to use: `given`, AKO_PYTHON, that of an active environment, or else the first of the
---usual ones that is new enough and has PyTorch; and what is known of it without importing that, "unknown" for what it
---does not say. Raises UNAVAILABLE with what is missing.
---@param given any
---@return string program, { program: string, version: string, torch: string, torch_cuda: string } known
function python.find(given) end

---The member "python" of the evaluator's hello (docs/protocol.md), and what is known of the interpreter, as `find` has
---it. Raises UNAVAILABLE.
---@param given any
function python.facts(given) end

---What can be read off a Python source without a Python.
---@class ako.python_source
local python_source = {}

---The statements of a text, in order; `code` is on one line, without comments and with each string as "", `flat` the
---same with nothing inside brackets.
---@param text string
---@return { line: integer, indent: integer, code: string, flat: string, strings: string[], joined?: boolean }[]
function python_source.statements(text) end

---The facts of a solution's or a problem's text; `list`: its statements, where they are known already.
---@param text string
---@param list? table[]
---@return { classes: { name: string, line: integer, bases: string }[], functions: { name: string, line: integer }[], model?: "ModelNew"|"Model", inputs: { get_inputs?: integer, get_init_inputs?: integer }, helpers: string[], super_model: integer[], imports: { module: string, name?: string, as: string, line: integer }[] }
function python_source.facts(text, list) end

---@class ako.python_source.Reader
local Reader = {}

---@param piece string
function Reader:add(piece) end

---@param at integer
---@param joined? boolean
function Reader:begin(at, joined) end

---@param at integer
---@param joined? boolean
function Reader:finish(at, joined) end

---@class ako.quiet
local quiet = {}

---The reasons in a text of NVML's for which a device runs slower than it could.
---@param text? string
---@return string[]
function quiet.throttled(text) end

---The strangers that a result counts.
---@param result table
---@return { before?: integer, after?: integer, note: string }?
function quiet.tenants(result) end

---Text on the processes of others that a result says were on the device.
---@param result table
---@return string?
function quiet.strangers(result) end

---What spoils a measurement: strangers, unless they are tolerated, or pairs at clocks that differ.
---@param result table
---@param tolerated boolean
---@return string?
function quiet.disturbance(result, tolerated) end

---What is worth knowing about a measurement that counts all the same.
---@param result table
---@param clock_run? number
---@return string?
function quiet.remarks(result, clock_run) end

---What a policy would have kept of a session's trials.
---@class ako.rendering
local rendering = {}

---Writes files { [path in the workspace] = text } for a session. Returns the paths that hold them, sorted; those that
---were left alone since somebody else has written them; and of these, where they were ours once, the path beside it
---that the text has gone to, { [path] = path }. Raises POLICY for paths that no log may have, IO.
---@param ws any
---@param session_name string
---@param files table<string, string>
---@param solution string[]
---@return string[] written, string[] left_alone, table<string, string> moved
function rendering.write(ws, session_name, files, solution) end

---Removes what a killed write left beside the renderings. Only for who has the workspace for itself.
---@param ws any
function rendering.sweep(ws) end

---What a kill leaves of a session, and how the next start makes it good.
---@class ako.repair
local repair = {}

---True when a state (`session.read`) is of a session that was killed in the middle of something.
---@param repo ako.Repo
---@param state table
---@return boolean
function repair.is_cut_off(repo, state) end

---Removes git's locks of refs that a killed process was setting. Only for who has the session for itself.
---@param repo ako.Repo
---@param state table
function repair.clear_locks(repo, state) end

---Removes what killed writes left among the records of a session. Only for who has it, or its workspace, for itself.
---@param repo ako.Repo
---@param name string
function repair.sweep(repo, name) end

---Makes good what a kill left of an opened session: restores the best's files, closes an open trial as INFRA, sets the
---branch. Sets .cut_off to words for what was cut off, .repaired to the number of that trial, .restored, or .left_alone
---to why its files stayed as they are; of a proposal .set_aside, where its edit is now. Raises faults.
---@param session ako.session.Session
function repair.session(session) end

---@class ako.replay
local replay = {}

---What accept says of a record against a best one; another answer is the policy's mistake.
---@param ctx table
---@param record ako.Record
---@param best ako.Record
---@return ako.Verdict verdict, string reason
function replay.ask(ctx, record, best) end

---What the policy would have said of a session's trials, one after the other.
---@param ctx { policy: ako.Policy, opt: table, hook: fun(name: string, ...: any): any }
---@param history ako.Record[]
---@param samples? fun(record: ako.Record): table? what ako.trial's samples gave
---@param story? { header: table, notes: table[], name: string } the session, as far as it is known
---@return { trials: table[], best?: ako.Record, stop?: table, stalls: table[] } # stop: { trial, reason, trials, seconds }
function replay.trials(ctx, history, samples, story) end

---The lines and the JSON object for the session that ctx.host.session names.
---@param ctx table
---@return string[] lines, table object
function replay.answer(ctx) end

---@class ako.report
local report = {}

---The JSON form of a record; what is unknown in it is null.
---@param record ako.Record
function report.object(record) end

---One line on a record: what, how fast, against what.
---@param record ako.Record
function report.line(record) end

---The lines on a whole run that every policy's account ends with.
---@param session table
---@param ended any
---@param verified ako.Record|nil the record of the best's verification
function report.run_lines(session, ended, verified) end

---A line for each of several tasks: { task, record }.
---@param entries any
function report.suite_lines(entries) end

---The lines on one trial.
---@param record ako.Record
function report.trial_lines(record) end

---The text for stdout of these lines, at most ten of them.
---@param ... any
function report.text(...) end

---@class ako.rules
local rules = {}

---For an option that is a share: whether it is one, and what it must be.
---@param value number
---@return boolean, string
function rules.is_share(value) end

---A rule's number: the one given, or that of the option it names. Raises when there is no such option.
---@param given number|string
---@param opt? table
---@return number
function rules.number(given, opt) end

---Gives a rule words with which others are told what is in force: a text, or a function that returns one. Returns the
---rule.
---@generic T: function
---@param rule T
---@param words string|fun(opt: table, policy?: ako.Policy): string|false|nil
---@return T
function rules.described(rule, words) end

---The words of a rule under these options; nil for a rule that has none, false for one that these options switch off.
---@param rule function
---@param opt? table
---@param policy? ako.Policy
---@return string|false|nil
function rules.words(rule, opt, policy) end

---Keep when the median is more than `share` (0.01 is one per cent) faster than the best's.
---@param share number|string
function rules.faster_by(share) end

---Keep when even the slow end of the candidate's interval beats the fast end of the best's; `otherwise` (a verdict)
---when the two intervals meet.
---@param otherwise ako.Verdict
function rules.intervals_apart(otherwise) end

---The verdict of the pairs (timing.pairs): candidate and best timed in turn.
function rules.paired() end

---`otherwise` (default "revert") for what is more than `limit` times faster than the reference, unless the option named
---`justification` holds a text: such figures are nearly always a mistake in the measurement or a shortcut in the kernel.
---@param limit number|string
---@param justification string
---@param otherwise? ako.Verdict
function rules.plausible(limit, justification, otherwise) end

---All of these rules must say keep: the first other answer counts. The reason of a keep is the last one given.
---@param ... any
function rules.all(...) end

---As `rule`; but what it does not keep is kept all the same when it is surely no slower than the threshold of its pairs
---and measurably simpler: at least one of `least` = { lines, branches, knobs } fewer by so many, none of the others more.
---@param rule function
---@param least { lines?: number|string, branches?: number|string, knobs?: number|string }
function rules.or_simpler(rule, least) end

---For a policy's `unchanged`: what is measurably simpler than the best, as in `or_simpler`, is measured even where it is
---the same machine code.
---@param least { lines?: number|string, branches?: number|string, knobs?: number|string }
function rules.simpler(least) end

---The first of these stop rules that has a reason.
---@param ... any
function rules.any(...) end

---`count` trials in a row of which none was kept with a gain of more than `share` over the best before it.
---@param count integer
---@param share number|string
function rules.plateau(count, share) end

---After `limits.trials` trials (the baseline not counted) or `limits.seconds` of wall time; 0 is no limit.
---@param limits any
function rules.budget(limits) end

---When the best takes at most 1/share of the physical floor (the task's bytes over the device's peak bandwidth, its
---flops over its peak rate): share = 0.95 stops at 95 % of what the device can do. Never without a known floor.
---@param share number|string
function rules.floor(share) end

---The share of the entries that are correct and more than p times (strictly) faster than their reference:
---fast_p = count(correct and speedup > p) / n. Entries are { correct, speedup }; nil when there is none.
---@param entries any
---@param p any
function rules.fast_p(entries, p) end

---@class ako.schema
local schema = {}

---What many problems come to. A result is { name, correct, speedup, status, reason }.
---@class ako.scoreboard
local scoreboard = {}

---The thresholds of a text such as "0,1,2"; or nil, a message and INVALID.
---@param text string
---@return number[]? ps, string? problem, ako.Code? code
function scoreboard.thresholds(text) end

---The geometric mean of a list, from the logarithms; or nil and why there is none.
---@param list { name: string, speedup?: number }[]
---@return number? mean, string? why
function scoreboard.geomean(list) end

---The scores of a list of results for the thresholds `ps` (strictly more than p times faster).
---@param results table[]
---@param ps number[]
---@return { problems: integer, correct: integer, fast: { p: number, share?: number }[], geomean: table, unknown: table[] }
function scoreboard.score(results, ps) end

---The lines on the geometric means of a list of results.
---@param results table[]
---@return string[]
function scoreboard.mean_lines(results) end

---The lines of a table for people: a line for each result, then the scores.
---@param results table[]
---@param ps number[]
---@return string[]
function scoreboard.lines(results, ps) end

---The same for ako.json; what is not known is null.
---@param results table[]
---@param ps number[]
---@return table
function scoreboard.object(results, ps) end

---@class ako.screen
local screen = {}

---Whether the policy wants so many candidates screened.
---@param policy any
---@param count integer
---@return boolean
function screen.is_wanted(policy, count) end

---Screens candidates (a list of { name, text, problem, point }) and tries the best of them. Returns why it ended.
---The policy's stop is asked before the screening; what has been screened is then decided in any case. A screening
---that fails as a whole leaves all to be tried one by one.
---@param loop ako.loop.Loop
---@param candidates table[]
---@return string
function screen.run(loop, candidates) end

---@class ako.lending
local lending = {}

---Closes the journal at `path` of an opened session (ako.session) and remembers what is in it. Raises faults.
---@param session ako.session.Session
---@param path string
function lending.lend(session, path) end

---Takes the journal back, which `open(path)` opens, with the notes that were added. Raises CORRUPT when anybody has
---changed what was in it, or added anything else.
---@param session ako.session.Session
---@param path string
---@param open fun(path: string): table
function lending.take_back(session, path, open) end

---@class ako.seal
local seal = {}

---The seal of lines with one more (without its newline); "" is that of none.
---@param before string
---@param line string
---@return string
function seal.add(before, line) end

---The seal of a text whose lines all end.
---@param text string
---@return string
function seal.of(text) end

---What tells, without reading it, that a file is the same with the same content; nil where there is none.
---@param path string
---@return string?
function seal.identity(path) end

---@class ako.seeds
local seeds = {}

---The first `count` values that follow from `seed` (an integer), by splitmix64.
---@param seed integer
---@param count integer
---@return integer[]
function seeds.expand(seed, count) end

---@class ako.session
local session = {}

---True for a name that can be part of a ref and of a path.
---@param name string
function session.is_name(name) end

---Raises a fault for a name that cannot.
---@param name string
function session.check_name(name) end

---"<task>-<UTC time>", with a number behind it when that is taken.
---@param repo ako.Repo
---@param task_name any
function session.fresh_name(repo, task_name) end

---The story that a session's journal tells (ako.story), with .name. Nil, message, code when it cannot be read; NOTFOUND
---also when it was cut off before its first line, CORRUPT names the damaged line.
---@param repo ako.Repo
---@param name string
function session.read(repo, name) end

---The names of a workspace's sessions, oldest first.
---@param repo ako.Repo
function session.names(repo) end

---The newest session of a workspace for which `accept(state)` holds (default: any): its state or nil; a list of what
---is wrong with sessions that cannot be read; and, when the newest of all that are or may be of this workspace is one
---of those, that one: { name, problem, code }.
---@param ws any
---@param accept any
function session.newest(ws, accept) end

---The name of a session's branch; nil before there is a commit on it. Takes what `read` gives, too.
---@param state any
---@return string?
function session.branch_name(state) end

---Starts a session in a workspace (ako.workspace). `facts` go into its first line: task, device, policy, protected ...
---@param ws any
---@param name string
---@param facts any
function session.create(ws, name, facts) end

---For how many seconds a session's run was at work, as far as its journal shows: the time between a kill and `resume`
---does not count. Takes what `read` gives.
---@param state table
---@return number
function session.worked_s(state) end

---The other process that has a session's journal in its hands, as far as can be told; nil where none has.
---@param repo ako.Repo
---@param name string
---@return integer?
function session.holder(repo, name) end

---Opens a session that `read` has given as it is, with whatever is under way in it: for notes.
---@param ws table
---@param state table
---@return ako.session.Session? self, string? message, ako.Code? code
function session.open(ws, state) end

---Goes on with a session that `read` has given. An attempt that was cut off is closed as INFRA "interrupted".
---@param ws any
---@param state any
function session.resume(ws, state) end

---The record of trial `n`; raises a fault where there is none, or it is still open.
---@param state any
---@param n integer
---@return ako.Record
function session.record(state, n) end

---Raises CORRUPT where git has lost the commit of a record.
---@param repo ako.git.Repo
---@param record ako.Record
function session.check_kept(repo, record) end

---@class ako.session.Session
local Session = {}

---Puts a candidate in the place of the solution: `given` is the text of its main file, or { [path] = text }. The journal
---knows of it first: what a kill leaves there is never taken for the user's own work.
---@param given string|table<string, string>
function Session:place(given) end

---Announces that a proposer begins to edit the solution's files: until the next `begin` or `withdraw` they are its.
---@return { trial: integer, proposal: integer }? line, string? message, ako.Code? code
function Session:propose() end

---Takes back what was placed or proposed and will not be tried. Returns where what is kept of a proposal is now, in
---words, or false where there was nothing.
---@param why string
---@return string|false|nil kept, string? message, ako.Code? code
function Session:withdraw(why) end

---Begins a session in which nothing has been tried yet once more, with these facts in place of its first line's: what
---was noted before stays.
---@param facts table
---@return true? done, string? message, ako.Code? code
function Session:renew(facts) end

---Says in the journal that a run goes on, which has worked for so many seconds before.
---@param worked_s number
---@return true? done, string? message, ako.Code? code
function Session:note_resumed(worked_s) end

---Gives the journal out of hand while a proposer works, so that it can add notes.
function Session:lend() end

---Takes the journal back. CORRUPT when anybody has changed what was in it, or added anything but notes.
---@return true? taken, string? message, ako.Code? code
function Session:take_back() end

---Announces trial `n`: makes a commit of the solution's files as they are now under refs/ako/<session>/<n> and writes
---the intent. `info`: candidate, hypothesis, predict, label, facts. Returns { trial, tree, commit }.
---@param info any
function Session:begin(info) end

---The folder of a trial's records, as the user would type it in the workspace.
---@param n integer
---@return string
function Session:files_of(n) end

---Closes the open trial with its record (ako.trial, with verdict and reason) and its evidence (ako.evidence). A kept
---one is the new best. Returns the record.
---@param record ako.Record
---@param given table
function Session:close_trial(record, given) end

---Puts on the session's branch what belongs there and is not yet there: the kept trials, of a policy that wants `every`
---one the others too. `paths` are files of the workspace that are committed with them, as they are now.
---@param paths? string[]
function Session:publish(paths) end

---Puts the best's tree on the branch once more, with a message of the policy's, at the end; unless that was done before a
---kill. Returns the commit's oid.
---@param message string
---@param paths? string[]
---@return string
function Session:publish_final(message, paths) end

---Tags a commit at the end. The journal knows of it first: what a kill left of it is this session's. Nil, a message and
---EXISTS where somebody else has the name.
---@param name string
---@param oid string
---@param message string
---@return true? made, string? message, ako.Code? code
function Session:publish_tag(name, oid, message) end

---Takes a session back in which nothing has been tried or noted: as if it had not been started.
function Session:discard() end

---Keeps what the best against itself has given (ako.control).
---@param given table
function Session:note_control(given) end

---Puts the best's bytes back into the workspace. Files that hold anything but the bytes of `attempt` (a commit, a blob
---or several of them) or of the best belong to the user and stay: then nil, a message that names the file, and BUSY.
---@param attempt any
function Session:restore(attempt) end

---Notes that the workspace holds what it should, where the journal does not say so yet.
function Session:settle() end

---Sets the branch's ref to its last commit, where a kill came between the journal's line and that.
function Session:set_branch() end

---Adds words of the author's to the journal. given: text; trial (a number; the last one), topic, file (a path in the
---workspace) and hash (the oid of what it held). Returns the line. INVALID for neither text nor file.
---@param given { text?: string, trial?: integer, topic?: string, file?: string, hash?: string }
---@return ako.Note? line, string? message, ako.Code? code
function Session:note(given) end

---Overrides the verdict of trial `n` by hand: "keep" makes it the best, "revert" takes it back, so that the one kept
---before it is the best again. `forced` where the trial had not passed. The journal's line comes first, then the branch
---and the workspace's files; what is there of the user's own stays. INVALID for what would change nothing.
---@param n integer
---@param verdict "keep"|"revert"
---@param reason string
---@param forced? boolean
---@return { record: ako.Record, before?: ako.Record, best: ako.Record, left_alone?: string }? done, string? message, ako.Code? code
function Session:override(n, verdict, reason, forced) end

---Writes the last line; the session takes no more trials.
---@param facts any
function Session:finish(facts) end

---The files of the solution that the best (or `record`) has: { { name (path in the workspace), text } }.
---@param record ako.Record
function Session:sources(record) end

---Gives the journal back; closing twice is fine.
function Session:close() end

---All that is known of one trial, from its session's journal and the commit of its attempt alone.
---@class ako.show
local show = {}

---What trial `record` of a session (ako.pick's state) changed: as repo:diff has it, with from and to (commits),
---against (the number of the trial that it is compared with; nil for what the session began on). `base`: the record to
---compare it with instead of what it was judged against. Raises faults.
---@param state table
---@param record ako.Record
---@param base? ako.Record
---@param with_patch? boolean
---@return table
function show.change(state, record, base, with_patch) end

---"trial 5", or "what the session began on" for nil.
---@param number? integer
---@return string
function show.base_text(number) end

---"1 file, +3 -1"
---@param change table
---@return string
function show.stat(change) end

---Everything about a trial as the JSON object of the verb: the members that `try --json` has, gain and
---gain_interval (in %), time_s, ref, change (against, from, to, changes, insertions, deletions), notes, overrides, and
---with `with_sources` the texts.
---@param state table
---@param record ako.Record
---@param with_sources? boolean
---@return table
function show.object(state, record, with_sources) end

---The same as lines. Sources, where the object has them, are behind a line with their name, as they are.
---@param object table
---@return string[]
function show.lines(object) end

---Trying a policy before a GPU second is spent.
---@class ako.simulate
local simulate = {}

---What the policy keeps of so many candidates for each noise and each true gain, a share. A cell is { gain, keep, revert,
---inconclusive, kept, false_keep or missed_win, pairs }.
---@param ctx { policy: ako.Policy, opt: table, hook: fun(name: string, ...: any): any }
---@param gains number[]
---@param trials integer
---@param seed integer
---@param with_floor? boolean each machine's floor raises the threshold of the pairs, as in a run
---@return { noise: string, cells: table[] }[]
function simulate.synthetic(ctx, gains, trials, seed, with_floor) end

---Where the policy would end a run of candidates with these gains in turn, each over the best before it. Nobody writes
---notes in such a run, and it takes no time.
---@param ctx { policy: ako.Policy, opt: table, hook: fun(name: string, ...: any): any }
---@param gains number[]
---@param most integer trials after which it ends in any case
---@param seed integer
---@return { noise: string, trials: integer, stop?: table, stalls: table[], best: integer, speedup?: number }[]
function simulate.runs(ctx, gains, most, seed) end

---The lines and the JSON object for the verb.
---@param ctx table
---@return string[] lines, table object
function simulate.answer(ctx) end

---@class ako.start
local start = {}

---Loads the task and starts the evaluator that says which of its forms to take. ctx: policy, opt, host (task,
---workspace, device, session, seed, quiet, color), verb_options; and for tests home (holds the bundled examples),
---hook(name, ...) (calls a hook of the policy), start_evaluator, console. Raises faults.
---@param ctx any
function start.new(ctx) end

---@class ako.start.Start
local Start = {}

---Resolves the policy's numbers for the task, reads the reference and asks for the policy's own plan, which may have a
---question: .own_lines. Makes nothing. Raises faults.
function Start:resolve() end

---Makes the workspace, which is this process's until `close`, and says what it made. Raises faults.
function Start:prepare() end

---Gives the evaluator the task and makes the loop over an opened session, of which a run that is resumed was at work
---for worked_s seconds before. Raises faults.
---@param opened any
---@param worked_s? number
function Start:loop(opened, worked_s) end

---The folder of the workspace; before it is made, where it will be, or nil for a fresh one.
---@return string?
function Start:folder() end

---The solution's main file as it lies there, or will; "" where there is none.
---@return string
function Start:main_text() end

---Stops the evaluator and gives the session back. A trial that is still open was interrupted: it is recorded so and
---the best restored. Closing twice is fine.
function Start:close() end

---What the hooks of a policy see before there is a run.
---@class ako.survey
local survey = {}

---{ workspace (absolute; nil for a new scratch folder), task (once it is loaded: name, file, folder, solution, from
---(where its first content lies, nil: there), reference, inputs, tensors, bench (its command in words)), policy (what the
---program is given for it there), read(path) -> text or nil, exists(path) }; paths are of the workspace.
---@param started ako.start.Start
---@return table
function survey.of(started) end

---Which task a start is about: the one that is named, one that the policy makes, or the bundled example.
---@class ako.finding
local finding = {}

---The definition of the task. Sets .bundled where it is the bundled example, .made where the policy has made it. Raises
---faults.
---@param started ako.start.Start
---@return table
function finding.definition(started) end

---Sets .task: what the definition is in the evaluator's place, with its benchmark command. Raises faults.
---@param started ako.start.Start
---@param definition table
function finding.resolve(started, definition) end

---A workspace is for one process at a time.
---@class ako.claiming
local claiming = {}

---The lock of a workspace, to be closed. Nil where folders cannot be locked, on some network file systems. Raises BUSY
---where another process has it, and says which.
---@param ws { folder: string, repo: ako.Repo }
---@return ako.Lock?
function claiming.take(ws) end

---Whether what no candidate may change (ako.protect) is what a start has read.
---@class ako.guarding
local guarding = {}

---The hashes and marks of all of it, by names that are text. Of a workspace that has been made.
---@param started ako.start.Start
---@return table<string, string> hashes
---@return table<string, string> marks
function guarding.protected(started) end

---What was read must be what is hashed, so nobody may have written to it since this program began. Raises PROTECTED.
---@param started ako.start.Start
function guarding.check_read(started) end

---The same for what the evaluator has taken since: input files. Returns the marks; nil for a new scratch folder.
---@param started ako.start.Start
---@return table<string, string>? marks
function guarding.check_given(started) end

---The files that a policy gives a workspace which lacks them.
---@class ako.scaffolding
local scaffolding = {}

---Gives the workspace the policy's files where it lacks them; one that the policy has merged into is replaced. Says
---which. Returns the paths that were written. Raises faults.
---@param started ako.start.Start
---@return string[]
function scaffolding.write(started) end

---What sessions that were cut off leave in a workspace, made good.
---@class ako.recovering
local recovering = {}

---Says that a session's journal has lost its last line, where it has.
---@param started ako.start.Start
---@param opened ako.session.Session
function recovering.tell_torn(started, opened) end

---Repairs what killed sessions of this workspace left behind, so that the files are the user's or the best's again.
---Raises CORRUPT where the newest one cannot be read, for nobody knows then whose the files are, unless a session is
---named.
---@param started ako.start.Start
function recovering.workspace(started) end

---Records what the start's own session was at as interrupted, and restores the best. What fails is said, and left to the
---next start.
---@param started ako.start.Start
function recovering.own(started) end

---A resolved plan in words, for those who look before it runs: the policy's own lines, and those that all have.
---@class ako.plan_text
local plan_text = {}

---The policy's own lines, { { label, value }, ... }; none without that hook. What the policy cannot resolve is a fault
---with its question.
---@param started ako.start.Start
---@return string[][]
function plan_text.own(started) end

---The others, { name, text }, in reading order, for candidates from `source` (ako.proposer) or none.
---@param started ako.start.Start
---@param source? table
---@return string[][]
function plan_text.common(started, source) end

---@class ako.story
local story = {}

---Takes a line that begins at byte `at` of the journal into the story. What a line of any kind means is said here and
---nowhere else.
---@param state table
---@param line table
---@param at integer
function story.take(state, line, at) end

---An empty story of the journal at `path`. `texts` are of lists that index.json has.
---@param path string
---@param texts? table<string, string>
---@return table
function story.new(path, texts) end

---Writes the index. It may be missing, so a disk that has no room for it is no fault.
---@param state table
function story.save(state) end

---Reads the story of the journal at `path`. Returns it and the number of its lines (nil: by the index), or raises
---CORRUPT with the damaged line, or what the system says. `begin(state)` is called before, so that what was understood
---of a damaged journal is known.
---@param path string
---@param begin? fun(state: table)
---@return table state, integer? number
function story.read(path, begin) end

---The story as it is now that nobody else can write: the one given, or a fresh one where another process has written
---since it was read. Leaves a fresh index.
---@param state table
---@return table
function story.renew(state) end

---@class ako.suite
local suite = {}

---The folders of the tasks that `host.task` stands for, in the byte order of their names; nil when it is one task.
---@param host any
function suite.folders(host) end

---The context for one of them: as ctx, with its task, a workspace of its own where one was named, a session likewise.
---@param ctx any
---@param folder string
function suite.context(ctx, folder) end

---Builds that take long, for many solutions at once and before anything is timed.
---@class ako.suite_builder
local suite_builder = {}

---Does its share of a job's builds; returns the exit code. Raises faults.
---@param ctx any
---@param job { folder: string, slot: integer }
---@return integer
function suite_builder.run(ctx, job) end

---Who evaluates which problem of a suite, among several workers.
---@class ako.suite_claims
local suite_claims = {}

---Claims a problem by its number, below a folder: nil where another worker has it or it is done. Raises faults.
---@param folder string
---@param number integer
---@return any claim
function suite_claims.take(folder, number) end

---@class ako.suite_claims.Claim
local Claim = {}

---Begins with a pair: how often that has been done, with this time, or nil when that is often enough.
---@param key string
---@return integer?
function Claim:begin(key) end

---All of the problem's pairs have their results.
function Claim:finish() end

---Gives it back; closing twice is fine.
function Claim:close() end

---The problems and solutions of two folders, and the keys of their results.
---@class ako.suite_pairs
local suite_pairs = {}

---A file's path below a folder; as it is where it lies elsewhere.
---@param top string
---@param file string
---@return string
function suite_pairs.below(top, file) end

---True when `host.task` is a folder of problems in Python.
---@param host any
---@return boolean
function suite_pairs.is_suite(host) end

---Raises INVALID when `host.task` is a folder of problems: most verbs are about one.
---@param host any
function suite_pairs.check_single(host) end

---The problems of `host.task` and their solutions in `host.solution`: { top, from, items = { { problem, name, number,
---level, samples = { { solution, number, name } } } }, ambiguous, unknown }. Raises faults.
---@param host any
---@return table
function suite_pairs.find(host) end

---The problems of a folder, { { problem, name, number, level, samples (none) } }, in their order.
---@param folder string
---@return table[]
function suite_pairs.problems(folder) end

---Gives every item its problem's hash, every sample its solution's and its key. `where`: what else decides a result.
---@param found table
---@param ctx any
---@param where table
function suite_pairs.add_keys(found, ctx, where) end

---What is known of the pairs of a suite, and the files that are made from it. An entry is { item, sample, line, record,
---name, at }.
---@class ako.suite_records
local suite_records = {}

---The folder for the results of two folders: the one given, or one of the user's state.
---@param given? string
---@param top string
---@param from string
---@return string
function suite_records.folder(given, top, from) end

---The journal of a worker.
---@param folder string
---@param slot integer
---@return string
function suite_records.journal(folder, slot) end

---The newest line of each key, without its samples, by key. Raises CORRUPT where a journal is damaged.
---@param folder string
---@return table<string, table>
function suite_records.read(folder) end

---Bytes of all journals together.
---@param folder string
---@return integer
function suite_records.size(folder) end

---An entry as JSON has it.
---@param entry table
---@return table
function suite_records.object(entry) end

---The text of KernelBench's eval_results.json.
---@param entries table[]
---@return string
function suite_records.eval_results(entries) end

---Writes results.jsonl and eval_results.json into the folder. Raises faults.
---@param folder string
---@param entries table[]
function suite_records.write(folder, entries) end

---What `run` would do with a folder of problems.
---@class ako.suite_plan
local suite_plan = {}

---Says it, as a table or as one JSON object; nothing is written. Returns the exit code. Raises faults.
---@param ctx any
---@return integer
function suite_plan.tell(ctx) end

---What there is to do with a folder of problems and a folder of their solutions. `work` is what `look` gives.
---@class ako.suite_work
local suite_work = {}

---What is asked for: { ctx, found (ako.suite_pairs), devices, folder (of the results; not made here) }. Raises faults.
---@param ctx any
---@return table
function suite_work.look(ctx) end

---Reads what is known, and sets known, items, builds and total. Raises CORRUPT where a journal is damaged.
---@param work table
function suite_work.survey(work) end

---One of an item's samples, or that there is none: { item, sample, at, line (nil: nothing is known of it), name }.
---@param work table
---@param item table
---@param at integer
---@return table
function suite_work.entry(work, item, at) end

---All entries, in the order of the problems.
---@param work table
---@return table[]
function suite_work.entries(work) end

---Whether an entry needs no evaluation.
---@param entry table
---@return boolean
function suite_work.is_known(entry) end

---How many there are, how many are known, where, and what is left out, in lines.
---@param work table
---@return string[]
function suite_work.lines(work) end

---A folder of problems against a folder of their solutions.
---@class ako.suite_run
local suite_run = {}

---Evaluates all that is not known yet and tells the whole; or, in a process that another run has started for that, does
---its share. Returns the exit code. Raises faults.
---@param ctx any
---@param render fun(run: table): string[], table?
---@return integer
function suite_run.run(ctx, render) end

---@class ako.suite_run.Run
local Run = {}

---Ends the workers and tells what there is to tell. Closing twice is fine.
function Run:close() end

---What a suite comes to, for people.
---@class ako.suite_table
local suite_table = {}

---Rows of cells as lines; the last column has what is left of the line.
---@param rows string[][]
---@param width? integer nil: all that it wants
---@return string[]
function suite_table.laid_out(rows, width) end

---All rows, uncut.
---@param entries table[]
---@return string[]
function suite_table.full(entries) end

---As many of them as fit on a screen, and a line on those that do not.
---@param entries table[]
---@return string[]
function suite_table.lines(entries) end

---How many there are of each status, the most frequent one first.
---@param entries table[]
---@return { status: string, count: integer }[]
function suite_table.counts(entries) end

---The same as a line.
---@param entries table[]
---@return string
function suite_table.counts_line(entries) end

---Lines on solutions that belong to no problem, or may belong to several.
---@param found table
---@return string[]
function suite_table.left_out(found) end

---One of the processes that evaluate a suite.
---@class ako.suite_worker
local suite_worker = {}

---The job that this process has been started for, or nil.
---@return { folder: string, slot: integer, role?: string }?
function suite_worker.job() end

---Does a job: evaluates what nobody else does. Returns the exit code. Raises faults.
---@param ctx any
---@param job { folder: string, slot: integer }
---@return integer
function suite_worker.run(ctx, job) end

---@class ako.tap
local tap = {}

---Runs a test and prints its line; its failures don't end the file. Each test has a running time budget of its own.
---@param name string
---@param body function
function tap.test(name, body) end

---`got` equals `want`: the same value, or tables that hold equal values under equal keys. 1 and 1.0 are equal.
---@param got any
---@param want any
---@param message string
function tap.eq(got, want, message) end

---The condition is true (neither nil nor false).
---@param condition any
---@param message string
function tap.ok(condition, message) end

---`text` is a string that matches the Lua pattern.
---@param text string
---@param pattern string
function tap.match(text, pattern) end

---f(...) raises an error whose text matches the pattern.
---@param pattern string
---@param f function
---@param ... any
function tap.err(pattern, f, ...) end

---The results of a function that failed: nil (or false), a message that matches, and the code `want` when given.
---@param pattern string
---@param result any
---@param message string
---@param code string
---@param want any
function tap.fails(pattern, result, message, code, want) end

---Ends the present test, which counts as skipped.
---@param why string
function tap.skip(why) end

---Calls f() before each further file of tests: for what one file must not find of another.
---@param f fun()
function tap.before_file(f) end

---A fresh folder, removed when the program's tests are over.
function tap.tmpdir() end

---The parameter names of a Lua function, "..." last; nil for a function in C.
---@param f function
function tap.parameters(f) end

---Ends the program with this exit code.
---@param code integer
function tap.leave(code) end

---Runs the files, or each test_*.lua in the folder when there are none. Ends the program with 1 when a test failed.
---@param folder string
---@param files string[]
function tap.run(folder, files) end

---@class ako.task
local task = {}

---The file of a task named by a file or a folder (then its task.lua).
---@param name string
function task.file_of(name) end

---Reads and checks a task file (or the task.lua of a folder). Returns its definition, to be given to `resolve`, or
---nil, a message and a code: INVALID for a mistake in it, what the file system says otherwise.
---@param name string
function task.load(name) end

---The table that a task file returns, unchecked; nil, a message and a code as `load`.
---@param file string
function task.read(file) end

---The definition of a table such as a task file returns, whose files lie in `folder`; `file` is where it comes from.
---Nil, a message and a code as `load`.
---@param given table
---@param file string
---@param folder string
function task.define(given, file, folder) end

---True for what `define` and `load` give.
---@param value any
---@return boolean
function task.is_definition(value) end

---The task for a place, "gpu" or "cpu": { name, file, folder, place, tensors (array), tensor (by name), scalars, axes,
---workloads = { { id, axes, weight, shapes, elements, bytes, flops } }, tolerance (nil: the policy's), reference,
---solution = { files, entry, args, options, from } }. Nil and a message when the task has no form for the place.
---@param definition any
---@param place "gpu"|"cpu"
function task.resolve(definition, place) end

---The tolerance of a task: its own, or else the policy's: the predicate and the loosest of the numbers that
---`by_dtype` (dtype -> atol = rtol) has for its outputs; 0 for dtypes that it does not list (integers: exact).
---@param resolved any
---@param predicate any
---@param by_dtype any
function task.tolerance(resolved, predicate, by_dtype) end

---@class ako.tensors
local tensors = {}

---Raises unless every key of `given` is one of `known` (an array) or an integer up to `positional`.
---@param given any
---@param known table
---@param positional any
---@param what string
function tensors.check_keys(given, known, positional, what) end

---Reads `tensors`; returns an array in name order { name, dtype, dims (trees), role, init }. place(name) says where an
---entry stands ("task.lua:4: "), without a name where all of them do. Raises faults.
---@param given any
---@param place "gpu"|"cpu"
function tensors.read(given, place) end

---Reads `scalars` (may be nil); returns name -> { name, dtype, value }. `place` is as in `read`. Raises faults.
---@param given any
---@param place "gpu"|"cpu"
function tensors.read_scalars(given, place) end

---Reads `axes` (may be nil): name -> { dtype = "i32" | "i64" }, for the axes that say so. Raises faults.
---@param given any
function tensors.read_axes(given) end

---The shape of a tensor under `values` (axis -> integer), and its elements. Raises faults that name tensor and dim.
---@param tensor any
---@param values any
---@param what string
function tensors.shape(tensor, values, what) end

---A task's tensors for people and policies: { { name, dtype, dims (as they are written), role }, ... }. None for nil.
---@param list? table[]
---@return table[]
function tensors.views(list) end

---Such views in one line: "x f32(B, D) -> y f32(B, D)".
---@param views table[]
---@return string
function tensors.text(views) end

---Where a policy's tolerance lets null results pass a problem in Python: a finer one that does not.
---@class ako.tightening
local tightening = {}

---Whether somebody wants the original's answers, its tolerance among them, whatever that lets pass.
---@param policy any
---@param opt table
---@return boolean
function tightening.is_unwanted(policy, opt) end

---Makes a tolerance found earlier the plan's: a record's `tightened`.
---@param plan any
---@param tightened table
function tightening.adopt(plan, tightened) end

---Examines a task as ako.attack does. Of a problem in Python, unless the original's answers are wanted, the plan's
---tolerance is then the finer one where that helps: .tightened of the plan says so. `give` gives the evaluator the task
---with the plan's tolerance.
---@param evaluator any
---@param task any
---@param plan any
---@param give fun()
---@param unwanted? boolean
---@return table? found, string? message, ako.Code? code
function tightening.examine(evaluator, task, plan, give, unwanted) end

---What is to be said where a plan's tolerance is not the policy's; nil where it is.
---@param plan any
---@return string?
function tightening.text(plan) end

---Where a wrong result would have passed under the policy's own tolerance: so in words, else nil.
---@param plan any
---@param record ako.Record
---@return string?
function tightening.differs(plan, record) end

---The CUDA that load_inline compiles with, beside the one that PyTorch was built for.
---@class ako.toolkit
local toolkit = {}

---The nvcc that PyTorch would take: its path, and its release ("12.4"; nil where there is none or it does not say).
---@return string program, string? release
function toolkit.nvcc() end

---What is to be said of a solution's text that builds CUDA code by load_inline, with a PyTorch of these facts (of a
---problem's task); nil where all fits. `nvcc` is toolkit.nvcc, or a function like it.
---@param facts table
---@param text string
---@param nvcc fun(): string, string?
---@return string?
function toolkit.advice(facts, text, nvcc) end

---The doctor's finding on an interpreter (ako.python's find): its PyTorch, and with `nvcc`, as above, its CUDA beside that
---of the toolkit.
---@param found { program: string, version: string, torch: string, torch_cuda: string }
---@param nvcc? fun(): string, string?
---@return { name: string, state: string, text: string }
function toolkit.finding(found, nvcc) end

---@class ako.trial
local trial = {}

---A gain or a threshold, a share of the time, as "x % faster" in per cent: half the time is 100 % faster.
---@param share number
---@return number
function trial.faster(share) end

---The text of a threshold, in the same unit.
---@param share number
---@return string
function trial.threshold(share) end

---By how many per cent a record was faster than the best before it (negative: slower): a speed-up of 2 is 100 %, as
---reasons and predictions count it. Nil where nothing is known.
---@param record ako.Record
---@return number?
function trial.gain(record) end

---The interval of that, { low, high } in per cent; nil where there is none.
---@param record ako.Record
---@return number[]?
function trial.gain_interval(record) end

---True when the user, or a kill, ended the trial: it has not come to an end of its own.
---@param record ako.Record
---@return boolean
function trial.is_interrupted(record) end

---What counts of a record: the verdict that somebody gave by hand, else the policy's.
---@param record ako.Record
---@return ako.Verdict
function trial.verdict(record) end

---True when a trial with this status could not be measured, whatever its candidate is worth.
---@param status ako.Status
function trial.is_unmeasured(status) end

---Makes the record of a result. `context`: task (resolved), session, trial (number), hypothesis, candidate (name),
---statistic ("mean" or "median", for the speed-up over the reference), flush, original and best (records, nil for the
---baseline itself). Verdict and reason are the caller's to add.
---@param result any
---@param context any
function trial.record(result, context) end

---The record of a trial that never reached the evaluator, or for which it had no answer.
---@param status ako.Status
---@param reason string
---@param context any
function trial.without_result(status, reason, context) end

---Several records of the same code as one: the first with the means of all medians and speed-ups, the widest interval,
---and `runs`, a { median, speedup } for each.
---@param records ako.Record[]
---@return ako.Record
function trial.mean(records) end

---The raw samples of a result, by workload id: { time = {ns ...}, reference = {ns ...} }.
---@param result any
function trial.samples(result) end

---@class ako.tune
local tune = {}

---A point in words, in the order of its lines: "BLOCK=256,VEC=4".
---@param spec table what ako.launch has parsed
---@param point table<string, string>
---@return string
function tune.name(spec, point) end

---The source with a point's value first in each tune line; nothing else changes.
---@param text string
---@param point table<string, string>
---@return string
function tune.rewrite(text, point) end

---The candidates of a source's tune space, without the point that the source has already: { name, text, point }, at
---most `most` of them, and the number of points in all (0 without tune lines). Where there are more, the seed chooses.
---Nil and a message with file and line for a source whose lines cannot be read.
---@param text string
---@param file string
---@param most integer
---@param seed integer
---@return table[]? candidates, integer|string total_or_message, ako.Code? code
function tune.candidates(text, file, most, seed) end

---@class ako.unit
local unit = {}

---Raises a fault where sources cannot be given to an evaluator: it names the file.
---@param sources { name: string, text: string }[]
function unit.check(sources) end

---Where a lane runs: "gpu" or "cpu".
---@param lane string
function unit.place(lane) end

---The lane that runs Python in a place.
---@param place "gpu"|"cpu"
---@return string
function unit.python_lane(place) end

---The extension of the files that a place's native lanes take as a candidate's main file.
---@param place "gpu"|"cpu"
function unit.extension(place) end

---Reads files of a folder: { { name, text }, ... }, named as they lie below the first one's folder, so that the others
---can be included by name. Nil, a message and a code when one cannot be read.
---@param folder string
---@param files string[]
function unit.read(folder, files) end

---The unit of a problem's or a solution's files in Python: { { name, text }, ... }, the main one first.
---@param task { place: "gpu"|"cpu", workloads: table[] }
---@param sources { name: string, text: string }[]
---@return table
function unit.in_python(task, sources) end

---Makes a unit of `sources` (the first is the main file). `program` is the task's reference or solution with its
---entry, args and options; `fallback` gives entry and args where it has none; `point` gives values for the tunables
---(default: the first of each). Returns the unit or nil and a line that says what is wrong.
---@param task any
---@param program any
---@param sources any
---@param fallback any
---@param point any
function unit.make(task, program, sources, fallback, point) end

---What decides how a unit is launched, as text: equal machine code and equal launches have equal effects.
---@param given any
function unit.launches(given) end

---@class ako.contract
local contract = {}

--- True where a Python text has reference(**kwargs) and no class Model.
---@param text string
---@return boolean
function contract.is_reference(text) end

--- The sizes in a text such as "M=4096,alpha=0.5", by name.
---@param text string
---@return table<string, number>? dims, string? problem, string? code
function contract.dims(text) end

--- The arguments of an entry point (a source) as stdlib/python takes them. Raises faults.
---@param source table
---@param dims table<string, number>
---@return table
function contract.arguments(source, dims) end

--- What is asked of a reference. Raises faults.
---@param dims table<string, number>
---@param source? table
---@return table
function contract.question(dims, source) end

---@class ako.entry
local entry = {}

--- The entry point of a source { name, text }: { name, line, place, params }.
---@param source table
---@return table
function entry.parse(source) end

--- The arguments of an entry point for one workload, as docs/protocol.md has them. Raises faults.
---@param spec table
---@param task table
---@param workload table
---@return table
function entry.arguments(spec, task, workload) end

---@class ako.evaluation
local evaluation = {}

--- bench: one evaluation of a solution, as AKO4ALL's evaluator does it; ctx.flags are those of ako.bench_flags.
---@param ctx table
---@return integer
function evaluation.bench(ctx) end

---@class ako.verbs
local verbs = {}

--- bench: one evaluation of a solution, as AKO4ALL's evaluator does it; ctx.flags are those of ako.bench_flags.
---@param ctx table
---@return integer
function verbs.bench(ctx) end

---doctor: attacks the task and looks at the machine, before any optimizing; changes nothing. A task on which a result
---that no honest kernel gives would pass is refused (exit 13), unless the policy's correctness.weak is "warn". Where
---nothing can be started the machine alone is looked at.
---@param ctx any
function verbs.doctor(ctx) end

---run: the baseline, then a trial for each candidate, then the best restored and verified. A --task that is a folder
---of tasks runs them all; the exit code is then that of the first one that failed.
---@param ctx any
function verbs.run(ctx) end

---try: one trial of the tree as it is; the first one of a session is its baseline.
---@param ctx any
function verbs.try(ctx) end

---resume: a run that was interrupted goes on, with its candidates and what its policy's budget has left.
---@param ctx table
---@return integer
function verbs.resume(ctx) end

---finish: the best is restored, byte for byte, and verified, the policy's last commit made, and the session closed.
---@param ctx table
---@return integer
function verbs.finish(ctx) end

---plan: what run would do, without doing any of it.
---@param ctx any
function verbs.plan(ctx) end

---simulate: the policy's rule on synthetic noise, or on the trials of the session that is named.
---@param ctx any
function verbs.simulate(ctx) end

---status: where the newest session of the workspace, or the one named, stands.
---@param ctx table
---@return integer
function verbs.status(ctx) end

---brief: all that somebody without a memory needs to go on, in 2 KB.
---@param ctx table
---@return integer
function verbs.brief(ctx) end

---log: a line for each trial.
---@param ctx table
---@return integer
function verbs.log(ctx) end

---show N: all that is known of a trial.
---@param ctx table
---@return integer
function verbs.show(ctx) end

---diff N [M]: the patch that makes trial N of what it was judged against, or of trial M. A patch that is empty is said
---so on stderr: what is on stdout can be applied.
---@param ctx table
---@return integer
function verbs.diff(ctx) end

---report: the account of the whole session.
---@param ctx table
---@return integer
function verbs.report(ctx) end

---note [N]: words or a file of the author's, about trial N or the last one; before the first trial they begin a
---session that it goes on with.
---@param ctx table
---@return integer
function verbs.note(ctx) end

---keep N: by hand, trial N counts as kept and is the best.
---@param ctx table
---@return integer
function verbs.keep(ctx) end

---revert N: by hand, trial N does not count; the one kept before it is the best again.
---@param ctx table
---@return integer
function verbs.revert(ctx) end

---init: makes the workspace ready for its first trial and measures nothing: the repository, the solution's files and
---the policy's scaffold, where they are missing. What is there stays as it is.
---@param ctx table
---@return integer
function verbs.init(ctx) end

---A weak problem in Python is tried on inputs wider than its own.
---@class ako.widening
local widening = {}

---Makes the trials of a plan try these forms of inputs beside the problem's own: ako.attack's `wider`, or a record's.
---@param plan any
---@param forms? table
function widening.adopt(plan, forms) end

---What is to be said of what was `found` (ako.attack) or of a record: which wider inputs a weak problem is tried on.
---Nil where nothing is weak.
---@param found any
---@return string?
function widening.text(found) end

---@class ako.workspace
local workspace = {}

---The file of the task to run, and whether it is the bundled example. `host` has task and workspace as given on the
---command line (nil where not); `home` is the folder that holds the bundled examples.
---@param host any
---@param home any
function workspace.find_task(host, home) end

---That content; nil, a message and a code where it cannot be read.
---@param task any
---@param i integer
---@return string?, string?, string?
function workspace.first_text(task, i) end

---Which folder that would be, without making anything: its path, or nil for a fresh scratch workspace.
---@param host any
---@param task any
---@param bundled any
function workspace.plan(host, task, bundled) end

---Where the first content of the task's i-th solution file is read from, while the workspace has none of it.
---@param task any
---@param i integer
function workspace.origin(task, i) end

---What is wrong with the solution's files as they lie there or would be copied from the task, without making anything:
---nil, a message and a code as `prepare` would give them; else true.
---@param host any
---@param task any
---@param bundled any
function workspace.check(host, task, bundled) end

---Prepares the workspace of a resolved task: makes the folder and the repository where they are missing and copies
---the solution there. Returns { folder (absolute), repo, scratch, created (a new repository), task } where task is
---the resolved task as it is to be used from now on; or nil, a message and a code.
---@param host any
---@param task any
---@param bundled any
function workspace.prepare(host, task, bundled) end

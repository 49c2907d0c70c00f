-- Where a policy ends a run that is told once more (ako.replay) or made up (ako.simulate): its `stalled` and `stop` are
-- asked behind each trial, with what was known then, as the loop asks them before the next one.

local view = require "ako.view"

local ending = {}

local Ending = {}
Ending.__index = Ending

local copy = view.copy

--- True for a policy that would have anything to say.
function ending.is_asked(policy) return policy.stop ~= nil or policy.stalled ~= nil end

--- ctx: policy, opt, hook(name, ...); facts: members of ako.Run that stay as they are (session, header, task ...).
function ending.new(ctx, facts)
    return setmetatable({ ctx = ctx, facts = facts, history = {}, notes = {}, stalls = {} }, Ending)
end

local function ask(self, hook, run)
    if not self.ctx.policy[hook] then return nil end
    return view.words(hook, (self.ctx.hook(hook, run, self.ctx.opt)))
end

local function run_of(self, best, elapsed_s)
    local history = self.history
    local last = history[#history]
    local run = { trials = #history - 1, next_trial = #history, history = history, last = last, lane = last.lane,
        original = copy(history[1]), best = copy(best), notes = self.notes, elapsed_s = elapsed_s, finished = false }
    for name, value in pairs(self.facts) do run[name] = copy(value) end
    return run
end

--- Takes the next trial's record, with its verdict.
function Ending:take(record) self.history[#self.history + 1] = copy(record) end

--- Takes a note that had been written by then.
function Ending:note(line) self.notes[#self.notes + 1] = copy(line) end

--- Why the run ends behind the last record, or nil. `best` is the best then; elapsed_s as ako.Run has it. What
--- `stalled` says goes into .stalls, { trial, reason } each.
function Ending:reason(best, elapsed_s)
    local run = run_of(self, best, elapsed_s)
    local stalled = ask(self, "stalled", run)
    if stalled then self.stalls[#self.stalls + 1] = { trial = run.last.trial, reason = stalled } end
    return ask(self, "stop", run)
end

return ending

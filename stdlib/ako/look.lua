-- The verbs that look back and write nothing: status, brief, log, show, diff, report. They need no evaluator,
-- and of the workspace only its repository.

local account = require "ako.account"
local brief = require "ako.brief"
local console = require "ako.console"
local exits = require "ako.exits"
local format = require "ako.format"
local json = require "ako.json"
local log = require "ako.log"
local output = require "ako.output"
local pick = require "ako.pick"
local report = require "ako.report"
local session = require "ako.session"
local show = require "ako.show"
local trial = require "ako.trial"

local look = {}

local function status_object(state)
    local last = state.history[#state.history]
    return { v = 1, session = state.name, task = state.header.task, policy = state.header.policy,
        device = state.header.device, trials = math.max(0, #state.history - 1), finished = state.finished ~= nil,
        open = state.open and state.open.trial or json.null, holder = state.holder or json.null,
        best = state.best and report.object(state.best) or json.null,
        last = last and report.object(last) or json.null }
end

-- What goes on in a session that is not finished, and what to do about it.
local function under_way(state)
    if state.finished then return nil end
    local is_run = state.header.verb == "run"
    local again = is_run and "`resume`" or "`try`"
    if state.holder and state.open then
        return ("trial %d is being measured by process %d"):format(state.open.trial, state.holder)
    elseif state.holder then
        return ("at work: process %d"):format(state.holder)
    elseif state.open then
        return ("trial %d was cut off; %s closes it and goes on"):format(state.open.trial, again)
    end
    if not is_run and not state.best and #state.history > 0 then
        return "open, but its baseline failed: the next `try` begins a new session"
    end
    return ("open: %s goes on with it"):format(again)
end

local function last_line(record)
    local text = ("last: %s; %s"):format(report.line(record), log.verdict(record))
    if not record.predict then return text end
    return ("%s; predicted %s, measured %s"):format(text, log.percent(record.predict),
        log.percent(trial.gain(record)))
end

local function status_lines(state)
    local last = state.history[#state.history]
    local header = state.header
    local lines = { ("task %s, policy %s, device %s"):format(header.task or "unknown", header.policy or "unknown",
        header.device and header.device.name or "unknown") }
    for _, line in ipairs(report.run_lines(state, state.finished and state.finished.ended or nil)) do
        lines[#lines + 1] = line
    end
    if last and last ~= state.best then lines[#lines + 1] = last_line(last) end
    lines[#lines + 1] = under_way(state)
    return lines
end

--- status: where the newest session of the workspace, or the one named, stands.
function look.status(ctx)
    local state = pick.session(ctx)
    return output.either(ctx, status_object(state), report.text(status_lines(state)))
end

--- brief: all that somebody without a memory needs to go on, in 2 KB.
function look.brief(ctx)
    local state = pick.find(ctx)
    local parts = { policy = ctx.policy, opt = ctx.opt, hook = ctx.hook, command = pick.command(ctx),
        holder = state and state.holder and ("process %d"):format(state.holder),
        proposer = state ~= nil and os.getenv("AKO_SESSION") == state.name }
    local object = brief.object(pick.run(ctx, state), parts)
    return output.either(ctx, object, brief.shown(object))
end

--- log: a line for each trial.
function look.log(ctx)
    local state, given = pick.session(ctx), ctx.verb_options or {}
    local entries, notes = log.newest(state.history, given.last), given.notes and state.notes or nil
    if ctx.host.json then return output.object(ctx, log.object(state.name, entries, notes)) end
    return output.lines(ctx, log.lines(entries, notes))
end

-- The record of the operand that stands at `place`, nil without one.
local function operand(ctx, state, place)
    local number = (ctx.operands or {})[place]
    return number and session.record(state, number)
end

--- show N: all that is known of a trial.
function look.show(ctx)
    local state, given = pick.session(ctx), ctx.verb_options or {}
    local object = show.object(state, operand(ctx, state, 1), given.source)
    if ctx.host.json then return output.object(ctx, object) end
    return output.lines(ctx, show.lines(object))
end

local function change_object(state, record, change, with_patch)
    return { v = 1, session = state.name, trial = record.trial, against = change.against or json.null,
        from = change.from or json.null, to = change.to, changes = change.changes, insertions = change.insertions,
        deletions = change.deletions, patch = with_patch and change.patch or nil }
end

local function stat_lines(record, change)
    local lines = {}
    for i, entry in ipairs(change.changes) do lines[i] = ("%s %s"):format(entry.code, format.line(entry.path)) end
    lines[#lines + 1] = ("trial %d against %s: %s"):format(record.trial, show.base_text(change.against),
        show.stat(change))
    return lines
end

--- diff N [M]: the patch that makes trial N of what it was judged against, or of trial M. A patch that is empty is said
--- so on stderr: what is on stdout can be applied, byte for byte where that is no terminal.
function look.diff(ctx)
    local state, given = pick.session(ctx), ctx.verb_options or {}
    local record, base = operand(ctx, state, 1), operand(ctx, state, 2)
    local change = show.change(state, record, base, not given.stat)
    if ctx.host.json then return output.object(ctx, change_object(state, record, change, not given.stat)) end
    if given.stat then return output.lines(ctx, stat_lines(record, change)) end
    local is_seen = (ctx.console or console).is_terminal "out"
    if #change.changes > 0 then return output.text(ctx, is_seen and format.text(change.patch) or change.patch) end
    (ctx.console or console).err(("trial %d is the same as %s\n"):format(record.trial, show.base_text(change.against)))
    return exits.DONE
end

--- report: the account of the whole session.
function look.report(ctx)
    local object, given = account.object(pick.session(ctx)), ctx.verb_options or {}
    if ctx.host.json then return output.object(ctx, object) end
    return output.lines(ctx, given.markdown and account.markdown(object) or account.lines(object))
end

return look

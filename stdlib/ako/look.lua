-- The verbs that look back and write nothing: brief, log, show. They need no evaluator, and of the workspace only its
-- repository.

local brief = require "ako.brief"
local console = require "ako.console"
local exits = require "ako.exits"
local fault = require "ako.fault"
local json = require "ako.json"
local log = require "ako.log"
local pick = require "ako.pick"
local session = require "ako.session"
local show = require "ako.show"

local look = {}

local function out(ctx, text)
    local written, problem, code = (ctx.console or console).out(text)
    if not written then fault.raise(code, "%s", problem) end
    return exits.DONE
end

local function out_lines(ctx, lines) return out(ctx, table.concat(lines, "\n") .. "\n") end
local function out_object(ctx, object) return out(ctx, json.encode(object) .. "\n") end

-- How the program is called for this policy, as far as it goes with every verb.
local function command(ctx) return "ako-lua " .. (ctx.file or ctx.policy.name) end

--- brief: all that somebody without a memory needs to go on, in 2 KB.
function look.brief(ctx)
    local state = pick.find(ctx)
    local parts = { policy = ctx.policy, opt = ctx.opt, hook = ctx.hook, command = command(ctx) }
    local object = brief.object(pick.run(ctx, state), parts)
    return out(ctx, ctx.host.json and json.encode(object) .. "\n" or brief.shown(object))
end

--- log: a line for each trial.
function look.log(ctx)
    local state, given = pick.session(ctx), ctx.verb_options or {}
    local records, notes = log.newest(state.history, given.last), given.notes and state.notes or nil
    if ctx.host.json then return out_object(ctx, log.object(state.name, records, notes)) end
    return out_lines(ctx, log.lines(records, notes))
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
    if ctx.host.json then return out_object(ctx, object) end
    return out_lines(ctx, show.lines(object))
end

return look

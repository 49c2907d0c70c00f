-- The verbs that look back and write nothing: brief.

local brief = require "ako.brief"
local console = require "ako.console"
local exits = require "ako.exits"
local fault = require "ako.fault"
local json = require "ako.json"
local pick = require "ako.pick"

local look = {}

local function out(ctx, text)
    local written, problem, code = (ctx.console or console).out(text)
    if not written then fault.raise(code, "%s", problem) end
    return exits.DONE
end

-- How the program is called for this policy, as far as it goes with every verb.
local function command(ctx) return "ako-lua " .. (ctx.file or ctx.policy.name) end

--- brief: all that somebody without a memory needs to go on, in 2 KB.
function look.brief(ctx)
    local state = pick.find(ctx)
    local parts = { policy = ctx.policy, opt = ctx.opt, hook = ctx.hook, command = command(ctx) }
    local object = brief.object(pick.run(ctx, state), parts)
    return out(ctx, ctx.host.json and json.encode(object) .. "\n" or brief.shown(object))
end

return look

-- ako-lua tests/lua/drive.lua FOLDER VERB [name=value ...]: one verb on a folder of scripted.lua, in a process of its
-- own, so that something can happen to it. The names are the verb's options, and "session"; numbers are operands.
local scripted = require "scripted"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local options, named, operands = {}, {}, {}
for i = 3, #arg do
    local name, value = arg[i]:match("^(%w+)=(.*)$")
    if not name then
        operands[#operands + 1] = math.tointeger(tonumber(arg[i]))
    elseif name == "session" then
        named.session = value
    else
        options[name] = value
    end
end
local ctx = scripted.logging_context(arg[1], named, options)
ctx.console, ctx.operands = nil, operands
t.leave(verbs[arg[2]](ctx))

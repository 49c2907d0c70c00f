-- stdlib/meta/ako.d.lua describes every function that Lua can call: the same names and parameters as the sources. C
-- functions tell theirs in the comment above ("fs.read(path[, limit]): ..."), Lua ones in their own head.
local fs = require "ako.fs"
local host = require "ako.host"
local t = require "ako.tap"

local META = fs.join(t.home, "stdlib/meta/ako.d.lua")
-- The class of a C module's methods.
local HANDLES = { device = "Lock", fs = "Lock", git = "Repo", journal = "Journal", regex = "Regex", worker = "Worker",
    process = "Child" }
local NO_TABLE = { cli = true } -- a module that is a function

local function sorted_keys(set)
    local keys = {}
    for key in pairs(set) do keys[#keys + 1] = key end
    table.sort(keys)
    return keys
end

local function sources(folder, extension)
    local found = {}
    for _, name in ipairs(assert(fs.list(fs.join(t.home, folder)))) do
        local module = name:match("^(.+)%." .. extension .. "$")
        if module then found[module] = assert(fs.read(fs.join(t.home, folder, name))) end
    end
    return found
end

-- "a, b[, { c, d }]" as { "a", "b", "{}" }
local function parameters(text)
    local names = {}
    for name in text:gsub("%b{}", "{}"):gsub("[%[%]]", ""):gmatch("[^%s,]+") do names[#names + 1] = name end
    return names
end

-- Class -> function name -> parameters, as described; and the number of ---@param lines that precede each.
local function described(text)
    local classes, class, documented = {}, nil, {}
    for line in text:gmatch("[^\n]+") do
        class = line:match("^%-%-%-@class ako%.([%w_.]+)") or class
        local name, list = line:match("^function [%w_]+[.:]([%w_]+)%((.-)%) end$")
        if name then
            classes[class] = classes[class] or {}
            classes[class][name] = parameters(list)
            t.eq(documented, classes[class][name], ("---@param lines of %s.%s"):format(class, name))
        end
        local parameter = line:match("^%-%-%-@param ([%w_.]+)")
        if parameter then documented[#documented + 1] = parameter end
        if line:find("^function") then documented = {} end
    end
    return classes
end

-- C sources

-- The registration tables of a file: table name -> Lua name -> C function.
local function registered(text)
    local tables = {}
    for name, body in text:gmatch("luaL_Reg (%w+)%[%] = (%b{})") do
        tables[name] = {}
        for lua_name, c_name in body:gmatch('{"([^"]+)", ([%w_]+)}') do tables[name][lua_name] = c_name end
    end
    return tables
end

-- The parameters that the comment above a C function gives; nil when there is no such comment.
local function signature(text, c_name, lua_name)
    local head = text:find("static int " .. c_name .. "(lua_State *L)", 1, true)
    local comment = head and text:sub(1, head - 1):match(".*/%*(.-)%*/%s*$")
    local list = comment and comment:match("^ [%w_.:]*%f[%w_]" .. lua_name .. "%s*(%b())")
    if list then return parameters(list:sub(2, -2)) end
    if comment and comment:find("^ [%w_.:]*%f[%w_]" .. lua_name .. "%s*{") then return { "{}" } end
end

-- A table in braces may have any name.
local function same_parameters(got, want)
    if #got ~= #want then return false end
    for i, name in ipairs(want) do
        if name ~= "{}" and name ~= got[i] then return false end
    end
    return true
end

local compared = {}

local function compare(class, meta, functions)
    compared[class] = true
    local names = sorted_keys(functions)
    t.eq(sorted_keys(meta or {}), names, "functions of ako." .. class)
    for _, name in ipairs(names) do
        local want = functions[name]
        t.ok(want, ("ako.%s.%s: no comment such as /* %s(...): ... */ in its source"):format(class, name, name))
        if not same_parameters(meta[name], want) then t.eq(meta[name], want, ("ako.%s.%s"):format(class, name)) end
    end
end

local function with_signatures(text, table_of)
    local functions = {}
    for lua_name, c_name in pairs(table_of) do functions[lua_name] = signature(text, c_name, lua_name) or false end
    return functions
end

-- Lua sources

local HEADS = { "\nfunction ([%w_]+)([.:])([%w_]+)(%b())", "\n([%w_]+)(%.)([%w_]+) = fault%.returns%(function(%b())" }

-- Function name -> parameters for each table that the file's functions are put into.
local function defined(text)
    local owners = {}
    for _, head in ipairs(HEADS) do
        for owner, _, name, list in ("\n" .. text):gmatch(head) do
            owners[owner] = owners[owner] or {}
            local names = parameters(list:sub(2, -2))
            if names[1] == "self" then table.remove(names, 1) end
            owners[owner][name] = names
        end
    end
    return owners
end

-- What `require` gives, with the parameters that the functions have: their wrappers (fault.returns) have none.
local function loaded(module, by_source)
    local functions = {}
    for name, value in pairs(module) do
        if type(value) == "function" then functions[name] = by_source[name] or host.parameters(value) end
    end
    return functions
end

local meta = described(assert(fs.read(META)))

t.test("the description is Lua, and cannot be run by mistake", function()
    t.ok(load(fs.read(META), "@" .. META, "t"))
    t.match(fs.read(META), "^%-%-%-@meta\n")
    t.err("module 'meta%.ako' not found", require, "meta.ako")
end)

local c_sources, lua_sources = sources("lua", "c"), sources("stdlib/ako", "lua")

for _, module in ipairs(sorted_keys(c_sources)) do
    local text = c_sources[module]
    local name = text:match("\nint luaopen_ako_(%w+)%(lua_State %*L%);")
    if name then
        t.test(("ako.%s, in lua/%s.c"):format(name, module), function()
            local tables = registered(text)
            local functions = with_signatures(text, tables.functions)
            compare(name, meta[name], functions)
            t.eq(sorted_keys(loaded(require("ako." .. name), functions)), sorted_keys(functions), "what is loaded")
            if tables.methods then
                t.eq(tables.methods.close, nil)
                local methods = with_signatures(text, tables.methods)
                methods.close = {}
                compare(HANDLES[name], meta[HANDLES[name]], methods)
            end
        end)
    end
end

for _, module in ipairs(sorted_keys(lua_sources)) do
    local text = lua_sources[module]
    t.test("ako." .. module .. ", in Lua", function()
        local value = require("ako." .. module)
        t.eq(type(value), NO_TABLE[module] and "function" or "table")
        if NO_TABLE[module] then return end
        local owners = defined(text)
        local own_name = text:match("\nreturn ([%w_]+)%s*$")
        compare(module, meta[module], loaded(value, owners[own_name] or {}))
        for owner, methods in pairs(owners) do
            if owner:find("^%u") then compare(module .. "." .. owner, meta[module .. "." .. owner], methods) end
        end
    end)
end

t.test("nothing else is described", function()
    for class in pairs(meta) do t.ok(compared[class], "ako." .. class .. " is no module and no class of one") end
end)

t.test("require is told of every module", function()
    local text = fs.read(META)
    local known, modules = {}, {}
    for name in text:gmatch('@overload fun%(name: "ako%.([%w_]+)"%)') do known[name] = true end
    for name in pairs(lua_sources) do modules[name] = true end
    for _, c_source in pairs(c_sources) do
        local name = c_source:match("\nint luaopen_ako_(%w+)%(lua_State %*L%);")
        if name then modules[name] = true end
    end
    t.eq(sorted_keys(known), sorted_keys(modules))
end)

-- Class -> set of its fields; `{ a?: integer }` of a field gives "Class.field" its own.
local function fields_of(text)
    local classes, class = {}, nil
    for line in text:gmatch("[^\n]+") do
        class = line:match("^%-%-%-@class ako%.(%u%w*)") or class
        local name, kind = line:match("^%-%-%-@field ([%w_]+)%??%s+(.*)")
        if class and name then
            classes[class] = classes[class] or {}
            classes[class][name] = true
            local inner = kind:match("^(%b{})")
            for member in (inner or ""):gmatch("([%w_]+)%??:") do
                local key = class .. "." .. name
                classes[key] = classes[key] or {}
                classes[key][member] = true
            end
        end
    end
    return classes
end

t.test("a policy's fields are those of ako.schema, at every depth", function()
    local schema, classes = require "ako.schema", fields_of(assert(fs.read(META)))
    local function same(rules, class)
        local known = {}
        for name, rule in pairs(rules) do
            if not rule.reserved then known[name] = true end
        end
        local own = {}
        for name in pairs(classes[class] or {}) do
            if name ~= "extend" then own[name] = true end
        end
        t.eq(sorted_keys(own), sorted_keys(known), class)
    end
    same(schema, "Policy")
    same(schema.timing.fields, "Timing")
    same(schema.timing.fields.pairs.fields, "PairsPlan")
    same(schema.timing.fields.screen.fields, "ScreenPlan")
    same(schema.git.fields, "Branching")
    same(schema.correctness.fields, "Policy.correctness")
    same(schema.budget.fields, "Policy.budget")
end)

t.test("a record's fields are those that the sources set", function()
    local known, text = fields_of(assert(fs.read(META))).Record, ""
    for _, module in ipairs { "trial", "loop", "measuring", "verifying", "session" } do
        text = text .. assert(fs.read(fs.join(t.home, "stdlib/ako/" .. module .. ".lua")))
    end
    local seen = {}
    for list in text:gmatch("\n%s+([%w_., ]*record%.[%w_., ]+) = ") do
        for name in list:gmatch("record%.([%w_]+)") do seen[name] = true end
    end
    t.ok(seen.paired and seen.weakness and seen.no_effect and seen.next, "the pattern finds assignments")
    local internal = { kind = true, launches = true, machine_code = true, time_s = true, tree = true, commit = true }
    for name in pairs(seen) do t.ok(known[name] or internal[name], "ako.Record lacks " .. name) end
end)

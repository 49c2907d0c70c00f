-- What can be read off a Python source without a Python: its statements, and of those the definitions, imports and uses
-- that matter to a KernelBench solution. It knows strings, comments, brackets, continued lines and indents, but no
-- grammar. What it says of a text that Python would refuse is worth nothing; it ends all the same.

local format = require "ako.format"

local python_source = {}

local NAME = "[%a_\x80-\xff][%w_\x80-\xff]*"
local AT_A_NAME = "%f[%w_\x80-\xff]" -- without it a search tries each letter of a long name for its beginning
local SPECIAL = "[#\"'\\\n;()%[%]{}]" -- all else is taken as it is
local TAB = 8 -- columns, as Python counts them

-- Statements

local function width_of(blanks)
    local width = 0
    for blank in blanks:gmatch "." do width = blank == "\t" and width - width % TAB + TAB or width + 1 end
    return width
end

local function newlines_in(text) return select(2, text:gsub("\n", "")) end

-- The place behind the string that starts at `at`, and its content. What is not closed ends with its line, or the text.
local function behind_string(text, at)
    local quote = text:match('^"""', at) or text:match("^'''", at) or text:sub(at, at)
    local special = (#quote == 3 and "[\\" or "[\\\n") .. quote:sub(1, 1) .. "]"
    local first = at + #quote
    local stop = text:find(special, first)
    while stop do
        local found = text:sub(stop, stop)
        if text:sub(stop, stop + #quote - 1) == quote then return stop + #quote, text:sub(first, stop - 1) end
        if found == "\n" then return stop, text:sub(first, stop - 1) end
        stop = text:find(special, found == "\\" and stop + 2 or stop + 1)
    end
    return #text + 1, text:sub(first)
end

local Reader = {}
Reader.__index = Reader

-- `flat` is the code with nothing left inside brackets.
function Reader:add(piece)
    self.code[#self.code + 1] = piece
    if self.depth == 0 then self.flat[#self.flat + 1] = piece end
end

function Reader:begin(at, joined)
    self.code, self.flat, self.strings, self.first, self.joined = {}, {}, {}, self.line, joined
    if not joined then self.indent = width_of(self.text:match("^[ \t]*", at)) end
end

-- `joined`: the next statement stands on the same line.
function Reader:finish(at, joined)
    local code = format.trim(table.concat(self.code))
    if code ~= "" then
        self.list[#self.list + 1] = { line = self.first, indent = self.indent, code = code, joined = self.joined,
            flat = format.trim(table.concat(self.flat)), strings = self.strings }
    end
    self:begin(at, joined)
end

-- By the character at `at`: each returns the place behind what it took.
local take = {}

take["#"] = function(self, at) return self.text:find("\n", at, true) or #self.text + 1 end

take["\n"] = function(self, at)
    self.line = self.line + 1
    if self.depth > 0 then self:add(" ") else self:finish(at + 1) end
    return at + 1
end

take["\\"] = function(self, at)
    local continued = self.text:sub(at + 1, at + 1) == "\n"
    self:add(continued and " " or "\\")
    if continued then self.line = self.line + 1 end
    return continued and at + 2 or at + 1
end

take[";"] = function(self, at)
    if self.depth > 0 then self:add(";") else self:finish(at + 1, true) end
    return at + 1
end

take['"'] = function(self, at)
    local behind, content = behind_string(self.text, at)
    self:add('""')
    self.strings[#self.strings + 1] = content
    self.line = self.line + newlines_in(self.text:sub(at, behind - 1))
    return behind
end
take["'"] = take['"']

local function opening(self, at)
    self:add(self.text:sub(at, at))
    self.depth = self.depth + 1
    return at + 1
end

local function closing(self, at)
    self.depth = math.max(0, self.depth - 1)
    self:add(self.text:sub(at, at))
    return at + 1
end

take["("], take["["], take["{"], take[")"], take["]"], take["}"] = opening, opening, opening, closing, closing, closing

--- The statements of a text, in order: { line (its first), indent (columns), code (on one line, without comments, each
--- string as ""), flat (as code, with nothing inside brackets), strings (their contents), joined (true behind a ;) }.
function python_source.statements(text)
    text = text:gsub("^\xEF\xBB\xBF", ""):gsub("\r\n?", "\n"):gsub("\f", " ")
    local self = setmetatable({ text = text, list = {}, line = 1, depth = 0 }, Reader)
    self:begin(1)
    local at = 1
    while at <= #text do
        local stop = text:find(SPECIAL, at) or #text + 1
        self:add(text:sub(at, stop - 1))
        at = stop <= #text and take[text:sub(stop, stop)](self, stop) or stop
    end
    self:finish(at)
    return self.list
end

-- What a statement does

local function definition(flat)
    local name = flat:match("^class%s+(" .. NAME .. ")")
    if name then return "class", name end
    name = flat:match("^def%s+(" .. NAME .. ")") or flat:match("^async%s+def%s+(" .. NAME .. ")")
    return name and "function", name
end

local HEADERS = { ["if"] = true, ["elif"] = true, ["else"] = true, ["for"] = true, ["while"] = true, ["try"] = true,
    with = true, except = true, finally = true }

-- The code without an `if ...:` and the like, on whose line an import stands.
local function without_header(code)
    if not HEADERS[code:match("^%a*")] then return code end
    return code:match("^.-:%s*(import%s.*)$") or code:match("^.-:%s*(from%s.*)$") or ""
end

local function import_of(item, module)
    local name, alias = item:match("^%s*([^%s]+)%s+as%s+(" .. NAME .. ")%s*$")
    name = name or item:match("^%s*([^%s]+)%s*$")
    if not name then return nil end
    if module then return { module = module, name = name, as = alias or name } end
    return { module = name, as = alias or name:match("^[^.]+") }
end

-- { module, name (of `from module import name`), as (the name that it is bound to) } for each of what is imported.
local function imports(code)
    code = without_header(code)
    local module, list = code:match("^from%s+([%w_.\x80-\xff]+)%s+import%s*(.*)$")
    list = module and list:gsub("[()]", " ") or code:match("^import%s+(.*)$") or ""
    local found = {}
    for item in list:gmatch("[^,]+") do found[#found + 1] = import_of(item, module) end
    return found
end

-- The parts of a statement in which names are given values, of those that are written with = or for.
local function targets(flat)
    local parts = {}
    if flat:find("^for%s") then parts[1] = flat:sub(4, (flat:find(AT_A_NAME .. "in%f[^%w_]", 4) or 4) - 1) end
    local plain = flat:gsub("[:=<>!]=", "  ")
    if HEADERS[plain:match("^%a*")] then plain = plain:match("^[^:]*:(.*)$") or "" end
    plain = plain:match("^(.*)=") or "" -- behind the last one is a value
    for part in plain:gmatch("[^=]+") do
        if part:find("%f[%w_]lambda%f[^%w_]") then break end
        parts[#parts + 1] = part:match("^[^:]*")
    end
    return parts
end

-- Calls give(name) for each name that the statement gives a value to in its own scope.
local function bindings(statement, give)
    local flat = statement.flat
    local kind, name = definition(flat)
    if kind then return give(name) end
    for _, import in ipairs(imports(statement.code)) do give(import.as) end
    for _, part in ipairs(targets(flat)) do
        for word in part:gsub("%.%s*" .. NAME, ""):gmatch(NAME) do give(word) end
    end
    for word in flat:gmatch(AT_A_NAME .. "(" .. NAME .. ")%s*:=") do give(word) end
    for word in flat:gmatch("%f[%w_]as%s+(" .. NAME .. ")") do give(word) end
end

-- Facts

-- Calls visit(statement, is_module_level): what stands in an `if` or a `try` of the module is the module's, too.
local function walk(list, visit)
    local scopes = {} -- the statements round the present one that define something
    for _, statement in ipairs(list) do
        while not statement.joined and scopes[#scopes] and scopes[#scopes].indent >= statement.indent do
            scopes[#scopes] = nil
        end
        visit(statement, #scopes == 0)
        if definition(statement.flat) then scopes[#scopes + 1] = statement end
    end
end

local INPUTS = { get_inputs = true, get_init_inputs = true }

local function add_definition(facts, statement)
    local kind, name = definition(statement.flat)
    if kind == "class" then
        local bases = statement.code:match("^class%s+" .. NAME .. "%s*%((.*)%)%s*:") or ""
        facts.classes[#facts.classes + 1] = { name = name, line = statement.line, bases = bases }
        facts.helpers = {}
    elseif kind then
        facts.functions[#facts.functions + 1] = { name = name, line = statement.line }
        if #facts.classes > 0 and not INPUTS[name] then facts.helpers[#facts.helpers + 1] = name end
    end
end

local function add_module_level(facts, statement)
    add_definition(facts, statement)
    if not statement.code:find("get_in", 1, true) then return end -- most texts have many statements and few inputs
    bindings(statement, function(name)
        if INPUTS[name] and not facts.inputs[name] then facts.inputs[name] = statement.line end
    end)
end

-- A function may give values to names of the module.
local function add_globals(facts, statement)
    for word in (statement.flat:match("^global%s+(.*)") or ""):gmatch(NAME) do
        if INPUTS[word] and not facts.inputs[word] then facts.inputs[word] = statement.line end
    end
end

local function add_uses(facts, statement)
    if statement.code:find "%f[%w_]super%s*%(%s*Model%s*," then
        facts.super_model[#facts.super_model + 1] = statement.line
    end
    if not statement.code:find("import", 1, true) then return end
    for _, import in ipairs(imports(statement.code)) do
        import.line = statement.line
        facts.imports[#facts.imports + 1] = import
    end
end

local function model_of(classes)
    local found
    for _, class in ipairs(classes) do
        if class.name == "ModelNew" or class.name == "Model" and not found then found = class.name end
    end
    return found
end

--- The facts of a solution's or a problem's text (`list`: its statements, where they are known already):
--- classes { { name, line, bases (text) } } and functions { { name, line } } of the module in their order; model:
--- "ModelNew" where there is such a class, else "Model", or nil; inputs { get_inputs = line, get_init_inputs = line }
--- for those that the module defines, assigns or imports; helpers: the names of the functions behind the last class,
--- but for those two (empty without a class); super_model: the lines that hold `super(Model, `; imports { { module,
--- name, as, line } } at any depth.
function python_source.facts(text, list)
    local facts = { classes = {}, functions = {}, inputs = {}, helpers = {}, super_model = {}, imports = {} }
    walk(list or python_source.statements(text), function(statement, is_module_level)
        if is_module_level then add_module_level(facts, statement) end
        add_globals(facts, statement)
        add_uses(facts, statement)
    end)
    facts.model = model_of(facts.classes)
    return facts
end

return python_source

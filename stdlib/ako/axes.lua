-- Integer expressions over a task's axes, scalars and tunables, as launch lines and tensor shapes use them:
--   expr  := term (('+' | '-') term)*        term := unary (('*' | '/' | '%') unary)*
--   unary := '-' unary | primary             primary := number | name | name '(' expr, ... ')' | '(' expr ')'
-- The meaning is C's: `/` and `%` of integers truncate towards zero; a floating operand makes the result floating.
-- Functions: ceil_div(a, b), min(...), max(...). Faults are raised as ako.fault, without a place: the caller knows it.

local fault = require "ako.fault"
local format = require "ako.format"

local axes = {}

local function overflow_checked(exact, result, text)
    if exact >= 2.0 ^ 63 or exact < -2.0 ^ 63 then fault.raise("INVALID", "%s overflows 64 bits", text) end
    return result
end

local function is_integers(a, b) return math.type(a) == "integer" and math.type(b) == "integer" end

local function divisor(b, text)
    if b == 0 then fault.raise("INVALID", "division by zero in %s", text) end
    return b
end

local function truncated(a, b)
    local quotient = a // b
    if quotient < 0 and quotient * b ~= a then quotient = quotient + 1 end
    return quotient
end

local operators = {
    ["+"] = function(a, b, text) return overflow_checked(a + 0.0 + b, a + b, text) end,
    ["-"] = function(a, b, text) return overflow_checked(a + 0.0 - b, a - b, text) end,
    ["*"] = function(a, b, text) return overflow_checked((a + 0.0) * b, a * b, text) end,
    ["/"] = function(a, b, text)
        divisor(b, text)
        return is_integers(a, b) and truncated(a, b) or a / b
    end,
    ["%"] = function(a, b, text)
        divisor(b, text)
        return is_integers(a, b) and a - truncated(a, b) * b or math.fmod(a, b)
    end,
}

local functions = {
    ceil_div = {
        count = 2,
        call = function(args, text)
            local a, b = args[1], divisor(args[2], text)
            if not is_integers(a, b) then fault.raise("INVALID", "ceil_div wants integers in %s", text) end
            return -(-a // b)
        end,
    },
    min = { call = function(args) return math.min(table.unpack(args)) end },
    max = { call = function(args) return math.max(table.unpack(args)) end },
}

--- A reader of tokens over `text`, starting at byte `at` (default 1). Launch lines use it too.
local Scanner = {}
Scanner.__index = Scanner

function axes.scanner(text, at)
    return setmetatable({ text = text, at = at or 1 }, Scanner)
end

function Scanner:skip() self.at = self.text:match("^%s*()", self.at) end

--- Takes what the pattern matches at the current place (after blanks), or returns nil and stays.
function Scanner:take(pattern)
    self:skip()
    local taken, after = self.text:match("^(" .. pattern .. ")()", self.at)
    if taken then self.at = after end
    return taken
end

--- What stands here, for messages: the rest of the line, shortened.
function Scanner:rest()
    self:skip()
    local rest = self.text:sub(self.at)
    if rest == "" then return "the end of the line" end
    return "'" .. (#rest > 20 and rest:sub(1, 17) .. "..." or rest) .. "'"
end

function Scanner:expect(pattern, what)
    return self:take(pattern) or fault.raise("INVALID", "expected %s before %s", what, self:rest())
end

function Scanner:done()
    self:skip()
    return self.at > #self.text
end

--- Reads `item(scanner)` separated by commas up to the closing parenthesis, which is taken too.
function Scanner:list(item)
    local items = {}
    if self:take("%)") then return items end
    repeat items[#items + 1] = item(self) until not self:take(",")
    self:expect("%)", "',' or ')'")
    return items
end

local DEEPEST = 100 -- nested parentheses and signs; deeper lines are mistakes or attacks on the C stack

local expression

local function number(text)
    local value = math.tointeger(tonumber(text)) or tonumber(text)
    if not value then fault.raise("INVALID", "malformed number '%s'", text) end
    return { kind = "number", value = text:find("[.eE]") and not text:find("^0[xX]") and value + 0.0 or value }
end

local function call(scanner, name)
    local known = functions[name]
    if not known then
        fault.raise("INVALID", "unknown function '%s'%s", name, fault.nearest(name, functions))
    end
    local args = scanner:list(expression)
    if #args ~= (known.count or math.max(1, #args)) then
        fault.raise("INVALID", "%s takes %s, got %d", name, known.count or "at least one argument", #args)
    end
    return { kind = "call", name = name, args = args }
end

local function primary(scanner)
    local digits = scanner:take("%d[%w_.]*")
    if digits then return number(digits) end
    local name = scanner:take("[%a_][%w_]*")
    if name then
        if scanner:take("%(") then return call(scanner, name) end
        return { kind = "name", name = name }
    end
    scanner:expect("%(", "a number, a name or '('")
    local inner = expression(scanner)
    scanner:expect("%)", "')'")
    return inner
end

local function unary(scanner)
    scanner.depth = (scanner.depth or 0) + 1
    if scanner.depth > DEEPEST then fault.raise("INVALID", "nested more than %d deep", DEEPEST) end
    local result
    if scanner:take("%-") then
        result = { kind = "negate", unary(scanner) }
    else
        result = primary(scanner)
    end
    scanner.depth = scanner.depth - 1
    return result
end

local function chain(scanner, next_level, pattern)
    local left = next_level(scanner)
    while true do
        local operator = scanner:take(pattern)
        if not operator then return left end
        left = { kind = "binary", operator = operator, left, next_level(scanner) }
    end
end

local function term(scanner) return chain(scanner, unary, "[*/%%]") end

--- Reads one expression from a scanner; returns its tree. Its text is kept for messages.
function expression(scanner)
    scanner:skip()
    local from = scanner.at
    local tree = chain(scanner, term, "[+-]")
    tree.text = format.trim(scanner.text:sub(from, scanner.at - 1))
    return tree
end
axes.expression = expression

--- Parses a whole string (or takes an integer) as one expression; returns its tree. Raises faults.
function axes.parse(text)
    if math.type(text) == "integer" then return { kind = "number", value = text, text = tostring(text) } end
    local scanner = axes.scanner(text)
    local tree = expression(scanner)
    if not scanner:done() then fault.raise("INVALID", "unexpected %s after '%s'", scanner:rest(), tree.text) end
    return tree
end

local evaluate

local evaluators = {
    number = function(tree) return tree.value end,
    name = function(tree, values)
        local value = values[tree.name]
        if value == nil then
            fault.raise("INVALID", "unknown name '%s'%s", tree.name, fault.nearest(tree.name, values))
        end
        return value
    end,
    negate = function(tree, values, text) return operators["-"](0, evaluate(tree[1], values, text), text) end,
    binary = function(tree, values, text)
        local left, right = evaluate(tree[1], values, text), evaluate(tree[2], values, text)
        return operators[tree.operator](left, right, text)
    end,
    call = function(tree, values, text)
        local args = {}
        for i, arg in ipairs(tree.args) do args[i] = evaluate(arg, values, text) end
        return functions[tree.name].call(args, text)
    end,
}

function evaluate(tree, values, text)
    return evaluators[tree.kind](tree, values, text)
end

--- Value of a tree: `values` maps names to numbers. Raises faults: unknown name, division by zero, overflow.
function axes.value(tree, values)
    return evaluate(tree, values, "'" .. (tree.text or "?") .. "'")
end

--- The same where only an integer will do.
function axes.integer(tree, values)
    local value = axes.value(tree, values)
    if math.type(value) == "integer" then return value end
    fault.raise("INVALID", "'%s' is %s, not an integer", tree.text, tostring(value))
end

--- The names that a tree uses, as a set (added to `into` when given).
function axes.names(tree, into)
    into = into or {}
    if tree.kind == "name" then into[tree.name] = true end
    for _, child in ipairs(tree.args or tree) do axes.names(child, into) end
    return into
end

return axes

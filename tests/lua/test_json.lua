local t = require "ako.tap"
local json = require "ako.json"

t.test("integers stay exact, reals stay reals", function()
    t.eq(json.encode { math.maxinteger, math.mininteger, 0.1, 1.0, 1e300 },
        "[9223372036854775807,-9223372036854775808,0.1,1.0,1e+300]")
    t.eq(math.type(json.decode "9007199254740993"), "integer")
    t.eq(json.decode "9007199254740993", 9007199254740993)
    t.eq(math.type(json.decode "1.0"), "float")
end)

t.test("keys are sorted, null and empty arrays survive", function()
    t.eq(json.encode { b = 1, a = json.null, c = json.array {}, d = {} }, '{"a":null,"b":1,"c":[],"d":{}}')
    local value = json.decode '{"list":[],"none":null,"map":{}}'
    t.eq(json.encode(value), '{"list":[],"map":{},"none":null}')
    t.ok(value.none == json.null)
    t.eq(json.encode(json.array()), "[]")
    t.eq(json.encode "text", '"text"')
    t.eq(json.encode(json.null), "null")
end)

t.test("what is not JSON raises and says where", function()
    t.err("workloads%[2%]%.shape: a function is not JSON", json.encode, { workloads = { {}, { shape = print } } })
    t.err("NaN is not JSON", json.encode, 0 / 0)
    t.err("infinity is not JSON", json.encode, { math.huge })
    t.err("not UTF%-8", json.encode, "\xff")
    local loop = {}
    loop.me = loop
    t.err("cycle", json.encode, loop)
    t.err("table expected", json.array, 1)
end)

t.test("a fault in a text is a result", function()
    local value, message, code = json.decode '{"a":1,\n"b" 2}'
    t.fails("line 2 column", value, message, code, "INVALID")
    value, message, code = json.decode("[1,2,3]", 6)
    t.fails("larger than 6 bytes", value, message, code, "LIMIT")
    value, message, code = json.decode '{"a":1,"a":2}'
    t.fails("duplicate", value, message, code, "INVALID")
    value, message, code = json.decode(("["):rep(5000))
    t.fails("depth", value, message, code, "INVALID")
end)

-- A small generator with a fixed seed, so that a failure comes again.
local function generator(seed)
    return function(n)
        seed = (seed * 1103515245 + 12345) % 2147483648
        return seed // 65536 % n + 1
    end
end

local function random_value(random, depth)
    local kind = random(depth > 3 and 5 or 7)
    if kind == 1 then return random(2) == 1 end
    if kind == 2 then return random(30000) * random(30000) * (random(2) == 1 and 1 or -1) end
    if kind == 3 then return random(30000) / random(30000) end
    if kind == 4 then return ("é\n\"\\\0x"):sub(1, ({ 0, 2, 3, 4, 5, 6, 7 })[random(7)]) end
    if kind == 5 then return json.null end
    local value = kind == 6 and json.array {} or {}
    for i = 1, random(4) - 1 do value[kind == 6 and i or "k" .. random(9)] = random_value(random, depth + 1) end
    return value
end

t.test("random values come back the same", function()
    local random = generator(42)
    for _ = 1, 500 do
        local value = random_value(random, 0)
        local text = json.encode(value)
        t.eq(json.encode(json.decode(text)), text)
        t.eq(json.decode(text), value)
    end
end)

t.test("random damage never raises", function()
    local random, sample = generator(7), '{"a":[1,2.5,"x\\n"],"b":{"c":null,"d":true}}'
    local accepted = 0
    for _ = 1, 3000 do
        local at = random(#sample)
        local text = sample:sub(1, at - 1) .. string.char(random(256) - 1) .. sample:sub(at + 1)
        local value, message, code = json.decode(text)
        if value == nil then t.fails("line %d", value, message, code, "INVALID") else accepted = accepted + 1 end
    end
    t.ok(accepted > 100)
end)

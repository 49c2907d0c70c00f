-- The cases of robust-kbench's configurations.
local case_product = require "ako.case_product"
local json = require "ako.json"
local t = require "ako.tap"

local CONFIG = assert(json.decode([[{
  "single_init_configs": [{"dim": 64}], "multi_init_configs": [{"dim": 64}, {"dim": 128}],
  "single_input_configs": [{"B": 8}], "multi_input_configs": [{"B": 8}, {"B": 9}, {"B": 10}],
  "single_shared_configs": [{}], "multi_shared_configs": [{"n": 1}, {"n": 2}] }]]))

local function names(config, multi)
    local list = {}
    for i, case in ipairs(assert(case_product.cases(config, multi))) do list[i] = case.name end
    return list
end

local function config_of(inits, inputs, shares)
    return { single_init_configs = inits, single_input_configs = inputs, single_shared_configs = shares }
end

t.test("single settings are one case", function()
    t.eq(case_product.cases(CONFIG), { { name = "dim=64;B=8", init = { dim = 64 }, input = { B = 8 } } })
    t.eq(case_product.cases(CONFIG, {}), case_product.cases(CONFIG, { init = false, input = false }))
end)

t.test("each list by itself", function()
    t.eq(names(CONFIG, { init = true }), { "dim=64;B=8", "dim=128;B=8" })
    t.eq(names(CONFIG, { input = true }), { "dim=64;B=8", "dim=64;B=9", "dim=64;B=10" })
end)

t.test("with both the shared ones are the multi_ list, and vary first", function()
    local list = names(CONFIG, { init = true, input = true })
    t.eq(#list, 2 * 3 * 2)
    t.eq({ table.unpack(list, 1, 3) }, { "dim=64,n=1;B=8", "dim=64,n=2;B=8", "dim=64,n=1;B=9" })
    t.eq(list[12], "dim=128,n=2;B=10")
end)

t.test("shared settings have the last word on both sides", function()
    local cases = case_product.cases(config_of({ { a = 1, b = 1 } }, { { a = 2, c = 2 } }, { { a = 3 }, { b = 4 } }))
    t.eq(cases[1], { name = "a=3,b=1;c=2", init = { a = 3, b = 1 }, input = { a = 3, c = 2 } })
    t.eq(cases[2], { name = "a=1,b=4;a=2,c=2", init = { a = 1, b = 4 }, input = { a = 2, b = 4, c = 2 } })
end)

t.test("nothing that was given is changed", function()
    local shared = { n = 1 }
    local config = config_of({ { a = 1 } }, { { b = 1 } }, { shared })
    local case = case_product.cases(config)[1]
    case.init.n = 9
    t.eq({ config.single_init_configs[1], shared, case.input.n }, { { a = 1 }, { n = 1 }, 1 })
end)

t.test("values of all kinds in names, which no two cases share", function()
    t.eq(names(config_of({ { s = "x y", f = 0.5, l = { 1, 2 }, t = true } }, { {} }, { {} })),
        { "f=0.5,l=[1,2],s=x y,t=true" })
    t.eq(names(config_of({ {} }, { {} }, { {}, {} })), { "default", "default#2" })
    t.eq(names(config_of({ { a = 1 }, { a = 1 } }, { { b = 1 } }, { {} })), { "a=1;b=1", "a=1;b=1#2" })
    t.eq(names(config_of({ {} }, { { b = 1 } }, { {} })), { "b=1" })
end)

t.test("lists that are missing, empty or none", function()
    local function says(pattern, config, multi)
        local cases, problem, code = case_product.cases(config, multi)
        t.fails(pattern, cases, problem, code, "INVALID")
    end
    says("^the configuration has no 'single_init_configs'$", {})
    says("no 'multi_input_configs'", config_of({ {} }, { {} }, { {} }), { input = true })
    says("no 'single_shared_configs'", config_of({ {} }, { {} }))
    says("'single_input_configs' must be a list of at least one", config_of({ {} }, {}, { {} }))
    says("'single_init_configs' must be a list", config_of("x", { {} }, { {} }))
    says("'single_shared_configs', item 2: must be a table", config_of({ {} }, { {} }, { {}, 5 }))
    says("'single_init_configs', item 1: must be a table", config_of({ { 1, 2 } }, { {} }, { {} }))
    says("must be a list", config_of({ a = 1 }, { {} }, { {} }))
    says("must be a list", config_of(json.null, { {} }, { {} }))
    says("^the configuration must be a table$", nil)
end)

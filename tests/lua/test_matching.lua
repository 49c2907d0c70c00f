-- Which solution belongs to which problem, by the names of their files.
local matching = require "ako.matching"
local t = require "ako.tap"

local PROBLEMS = { "23_Softmax.py", "36_RMSNorm_.py", "100_HingeLoss.py", "10_3D_tensor_matrix_multiplication.py" }

local function problem_of(solution, problems)
    local found = matching.match(problems or PROBLEMS, { solution })
    return found.pairs[1] and found.pairs[1].problem
end

t.test("by number", function()
    for _, name in ipairs { "36.py", "36_mine.py", "36-mine.py", "036.py", "36.cu", "36_RMSNorm_.py", "36_rmsnorm.py",
        "out/36.py", "level1_problem_36_sample_0_kernel.py", "problem_36.py", "level_1_problem_36.py",
        "36_v2.final.py" } do
        t.eq(problem_of(name), "36_RMSNorm_.py", name)
    end
    t.eq(problem_of "100.py", "100_HingeLoss.py")
end)

t.test("by name", function()
    for _, name in ipairs { "RMSNorm_.py", "rmsnorm.py", "RMSNorm.cu", "rms_norm.py", "solutions/RMS-Norm.py" } do
        t.eq(problem_of(name), "36_RMSNorm_.py", name)
    end
    t.eq(problem_of "3D_tensor_matrix_multiplication.py", "10_3D_tensor_matrix_multiplication.py")
    t.eq(problem_of("36_softmax.py", { "softmax.py", "gelu.py" }), "softmax.py")
end)

t.test("what belongs to none", function()
    for _, name in ipairs { "3.py", "360.py", "99_RMSNorm_.py", "RMSNorm2.py", "__init__.py", ".py", "", "36mine.py",
        "problem_3.py", "99999999999999999999999.py", "RMSNorm_36.py" } do
        local found = matching.match(PROBLEMS, { name })
        t.eq({ #found.pairs, #found.ambiguous, found.unknown }, { 0, 0, { name } }, name)
    end
end)

t.test("several problems for one solution are named, none is taken", function()
    local found = matching.match({ "1_a.py", "1_b.py", "2_a.py" }, { "1.py", "a.py", "1_a.py" })
    t.eq(found.ambiguous, { { solution = "1.py", problems = { "1_a.py", "1_b.py" } },
        { solution = "a.py", problems = { "1_a.py", "2_a.py" } } })
    t.eq(found.pairs, { { problem = "1_a.py", solution = "1_a.py" } })
    t.eq(found.unsolved, { "1_b.py", "2_a.py" })
end)

t.test("a number and a name that speak for different problems", function()
    local found = matching.match(PROBLEMS, { "36_Softmax.py" })
    t.eq(found.ambiguous, { { solution = "36_Softmax.py", problems = { "36_RMSNorm_.py", "23_Softmax.py" } } })
    t.eq(#found.unsolved, #PROBLEMS)
end)

t.test("levels", function()
    local problems = { "KernelBench/level1/1_a.py", "KernelBench/level2/1_b.py" }
    t.eq(problem_of("level2_problem_1_sample_0_kernel.py", problems), problems[2])
    t.eq(problem_of("runs/level1/1.py", problems), problems[1])
    t.eq(problem_of("runs/level3/1.py", problems), nil)
    t.eq(matching.match(problems, { "1.py" }).ambiguous[1].problems, problems)
    t.eq(problem_of("1_b.py", problems), problems[2])
    t.eq(problem_of("level7/1.py", { "1_a.py" }), "1_a.py", "problems without a level fit each")
end)

t.test("many solutions of a problem, in the order of their samples", function()
    local found = matching.match({ "2_b.py", "10_c.py", "1_a.py" }, { "level1_problem_1_sample_10_kernel.py",
        "level1_problem_1_sample_2_kernel.py", "10.py", "10.cu" })
    t.eq(found.pairs, {
        { problem = "1_a.py", solution = "level1_problem_1_sample_2_kernel.py", sample = 2 },
        { problem = "1_a.py", solution = "level1_problem_1_sample_10_kernel.py", sample = 10 },
        { problem = "10_c.py", solution = "10.cu" }, { problem = "10_c.py", solution = "10.py" } })
    t.eq({ found.several[1].problem, found.several[2] }, { "1_a.py",
        { problem = "10_c.py", solutions = { "10.cu", "10.py" } } })
    t.eq(found.unsolved, { "2_b.py" })
end)

t.test("nothing", function()
    t.eq(matching.match({}, {}), { pairs = {}, several = {}, ambiguous = {}, unsolved = {}, unknown = {} })
    t.eq(matching.match({}, { "1.py" }).unknown, { "1.py" })
    t.eq(matching.match({ "1.py" }, {}).unsolved, { "1.py" })
    t.eq(matching.match({ "1.py" }, { "1.py" }).pairs, { { problem = "1.py", solution = "1.py" } })
end)

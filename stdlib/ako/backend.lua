-- Which of KernelBench's backends a solution is written for, seen from its text: a label of results, and a hint what
-- must be installed. Imports and code count, comments do not; strings say only which of two C dialects it is.

local path = require "ako.path"
local python_source = require "ako.python_source"

local backend = {}

--- The names that `--backend` takes. What is none of them is "pytorch", or "c" or "cpp" for a file of that.
backend.NAMES = { "cuda", "triton", "tilelang", "cute", "hip" }

local SOURCES = { c = "c", cpp = "cpp", cc = "cpp", cu = "cuda", cuh = "cuda", hip = "hip" } -- by extension

-- Languages inside Python, by their modules, in the order in which the first that is imported counts.
local LANGUAGES = {
    { "triton", { "triton" } },
    { "tilelang", { "tilelang" } },
    { "cute", { "cutlass.cute", "cute", "cute_dsl" } },
}
local HIP_MODULES = { "hip" }
local CUDA_MODULES = { "torch.utils.cpp_extension", "cuda", "pycuda", "numba.cuda" }
local CUDA_WORDS = { "load_inline", "CUDAExtension", "RawKernel", "RawModule", "_compile_kernel", "__global__" }

local KERNEL_WORDS = { "jit", "kernel", "prim_func", "autotune" } -- of a decorator that makes a function a kernel

local function is_in(name, modules)
    for _, module in ipairs(modules) do
        if name == module or name:sub(1, #module + 1) == module .. "." then return true end
    end
    return false
end

local function is_imported(facts, modules)
    for _, import in ipairs(facts.imports) do
        local whole = import.name and import.module .. "." .. import.name
        if is_in(import.module, modules) or whole and is_in(whole, modules) then return true end
    end
    return false
end

local function has_word(code, words)
    for _, word in ipairs(words) do
        if code:find("%f[%w_]" .. word .. "%f[^%w_]") then return true end
    end
    return false
end

local function is_in_code(list, words)
    for _, statement in ipairs(list) do
        if has_word(statement.code, words) then return true end
    end
    return false
end

local function has_kernel(list)
    for _, statement in ipairs(list) do
        local code = statement.code
        if code:find "^@" and not code:find "^@%s*torch%f[^%w_]" and has_word(code, KERNEL_WORDS) then return true end
    end
    return false
end

-- Where a decorator names the module of one, as `@triton.jit` does: its import may be out of sight.
local function decorates(list, modules)
    for _, statement in ipairs(list) do
        local name = statement.code:match "^@%s*([%a_][%w_.]*)"
        if name and is_in(name, modules) then return true end
    end
    return false
end

local function is_hip_text(text) return text:find "hip/hip_runtime" ~= nil or text:find "hipLaunchKernel" ~= nil end

local function is_hip_inside(list)
    for _, statement in ipairs(list) do
        for _, content in ipairs(statement.strings) do
            if is_hip_text(content) then return true end
        end
    end
    return false
end

local function language(facts, list)
    for _, entry in ipairs(LANGUAGES) do
        if is_imported(facts, entry[2]) or decorates(list, entry[2]) then return entry[1] end
    end
    return is_imported(facts, { "cutlass" }) and is_in_code(list, { "cutlass%.cute" }) and "cute" or nil
end

local function of_python(text)
    local list = python_source.statements(text)
    local facts = python_source.facts(text, list)
    local found = language(facts, list)
    local hip = is_imported(facts, HIP_MODULES)
    local compiles = hip or is_imported(facts, CUDA_MODULES) or is_in_code(list, CUDA_WORDS)
    -- Of two, a language that is imported for its helpers alone is not what the kernel is written in.
    if found and (not compiles or has_kernel(list)) then return found end
    if not compiles then return "pytorch" end
    return (hip or is_hip_inside(list)) and "hip" or "cuda"
end

--- The backend of a solution's text: one of backend.NAMES, "pytorch", "c" or "cpp". `name`: its file, nil for a Python
--- one.
function backend.detect(text, name)
    local found = SOURCES[name and path.extension(name) or ""]
    if found then return is_hip_text(text) and "hip" or found end
    return of_python(text)
end

--- As `detect`, but for what was given by hand (nil: nothing). Returns the backend and where it comes from, "auto" or
--- "explicit".
function backend.choose(given, text, name)
    if given then return given, "explicit" end
    return backend.detect(text, name), "auto"
end

return backend

-- The CUDA that load_inline compiles with, beside the one that PyTorch was built for. Nothing is set here: what does
-- not fit is said, with what to do.

local extension = require "ako.extension"
local fs = require "ako.fs"
local process = require "ako.process"

local toolkit = {}

local LIMIT_NS = 20000000000

-- Where PyTorch looks, in its order.
local function nvcc_program()
    local home = os.getenv "CUDA_HOME" or os.getenv "CUDA_PATH"
    if home then return fs.join(home, "bin/nvcc") end
    local found = process.run { "sh", "-c", "command -v nvcc", limit_ns = LIMIT_NS }
    local path = found and found.stdout:match("^(/[^\n]+)")
    return path or "/usr/local/cuda/bin/nvcc"
end

--- The nvcc that PyTorch would take: its path, and its release ("12.4"; nil where there is none or it does not say).
function toolkit.nvcc()
    local program = nvcc_program()
    local told = fs.is_file(program) and process.run { program, "--version", limit_ns = LIMIT_NS }
    return program, told and told.stdout:match("release (%d+%.%d+)")
end

-- load_inline takes CUDA code by that name, or as its third argument.
local function builds_cuda(text)
    return extension.is_asked_for(text) and (text:find("cuda_sources", 1, true) or text:find("__global__", 1, true))
end

local function major(version) return version:match("^%d+") end

-- What is wrong with the nvcc of these for a PyTorch that was built for CUDA; nil where all fits.
local function difference(facts, program, release)
    local built_for = facts.torch_cuda
    if not release then
        return ("no nvcc (%s): load_inline cannot compile CUDA code; name a toolkit of CUDA %s with CUDA_HOME"):format(
            program, major(built_for))
    end
    if major(release) == major(built_for) then return nil end
    return ("PyTorch %s was built for CUDA %s, but %s is of CUDA %s, which load_inline refuses: name a toolkit of CUDA "
        .. "%s with CUDA_HOME, or take a PyTorch for CUDA %s"):format(facts.torch, built_for, program, release,
        major(built_for), major(release))
end

--- What is to be said of a solution's text that builds CUDA code by load_inline, with a PyTorch of these facts (of a
--- problem's task); nil where all fits. `nvcc` is toolkit.nvcc, or a function like it.
function toolkit.advice(facts, text, nvcc)
    if type(facts.torch_cuda) ~= "string" or not builds_cuda(text) then return nil end
    return difference(facts, nvcc())
end

--- The doctor's finding on an interpreter { program, version, torch, torch_cuda } (ako.python's find): its PyTorch, and
--- with `nvcc`, as above, its CUDA beside that of the toolkit. { name, state, text }, "warning" where they do not fit.
function toolkit.finding(found, nvcc)
    local is_for_cuda = found.torch_cuda:find "^%d" ~= nil
    local cuda = is_for_cuda and " for CUDA " .. found.torch_cuda
        or found.torch_cuda == "None" and " without CUDA" or ""
    local text = ("%s (%s), PyTorch %s%s"):format(found.version, found.program, found.torch, cuda)
    if not (is_for_cuda and nvcc) then return { name = "Python", state = "ok", text = text } end
    local program, release = nvcc()
    local wrong = difference(found, program, release)
    if wrong then return { name = "Python", state = "warning", text = text .. "; " .. wrong } end
    return { name = "Python", state = "ok", text = ("%s, nvcc of CUDA %s"):format(text, release) }
end

return toolkit

-- The Python interpreter of the Python lanes: which one, and what the evaluator has to know of it.

local fault = require "ako.fault"
local fs = require "ako.fs"
local host = require "ako.host"
local paths = require "ako.path"
local process = require "ako.process"

local python = {}

local SECOND = 1000000000
local OLDEST = "3.10"

-- Without importing PyTorch, which would take seconds; and without the user's own files, one of which may be a copy.py.
-- A PyTorch that was built by hand may have no metadata, and a folder that is only called torch has no version at all.
local QUESTION = [[
import sys
sys.path = [folder for folder in sys.path if folder]
import importlib.util
import os
import re

def own_words(torch):
    try:
        with open(os.path.join(list(torch.submodule_search_locations)[0], "version.py"), encoding="utf-8") as file:
            return file.read()
    except Exception:
        return ""

def value(text, name):
    found = re.search(name.join(["^", r"""\b[^=\n]*=\s*["']?([^"'\n]+)"""]), text, re.M)
    return found.group(1) if found else "unknown"

def version(text):
    try:
        import importlib.metadata
        return importlib.metadata.version("torch") or "unknown"
    except Exception:
        return value(text, "__version__")

torch = importlib.util.find_spec("torch")
print("%d.%d" % sys.version_info[:2], sys.version_info >= (3, 10), torch is not None)
print(sys.executable)
text = own_words(torch) if torch else ""
print(version(text) if torch else "none")
print(value(text, "cuda"))
]]

-- { program, version, recent, torch (whether it is there), torch_version, torch_cuda } of an interpreter; nil and why
-- not.
local function look_at(program)
    local result, problem = process.run { program, "-c", QUESTION, limit_ns = 20 * SECOND }
    if not result then return nil, problem end
    local version, recent, torch, path, more = result.stdout:match("^(%S+) (%a+) (%a+)\n([^\n]+)\n(.*)$")
    if not version then return nil, ("%s: no Python interpreter"):format(program) end
    local torch_version, torch_cuda = more:match("^([^\n]+)\n([^\n]+)")
    return { program = path, version = version, recent = recent == "True", torch = torch == "True",
        torch_version = torch_version, torch_cuda = torch_cuda }
end

-- What somebody has chosen, by whatever means, is not passed over in silence.
local function chosen(given)
    local virtual, conda = os.getenv "VIRTUAL_ENV", os.getenv "CONDA_PREFIX"
    return given or os.getenv "AKO_PYTHON" or virtual and fs.join(virtual, "bin/python")
        or conda and fs.join(conda, "bin/python")
end

local function check(found)
    if not found.recent then
        fault.raise("UNAVAILABLE", "%s is Python %s; %s or newer is wanted: name another one with --python or "
            .. "AKO_PYTHON", found.program, found.version, OLDEST)
    end
    if not found.torch then
        fault.raise("UNAVAILABLE", "%s has no PyTorch: %s -m pip install torch (Debian: apt install python3-torch), or "
            .. "name another interpreter with --python or AKO_PYTHON", found.program, found.program)
    end
    return found.program, { program = found.program, version = found.version, torch = found.torch_version,
        torch_cuda = found.torch_cuda }
end

local USUAL = { "python3", "python", "/usr/bin/python3" }

--- The path of the interpreter to use: `given`, AKO_PYTHON, that of an active environment, or else the first of the
--- usual ones that is new enough and has PyTorch; and what is known of it without importing that: { program, version,
--- torch (PyTorch's version), torch_cuda (of the CUDA that it was built for, or "None") }, "unknown" for what it does
--- not say. Raises UNAVAILABLE with what is missing.
function python.find(given)
    local name = chosen(given)
    if name then
        local found, problem = look_at(name)
        if not found then fault.raise("UNAVAILABLE", "%s", problem) end
        return check(found)
    end
    local first
    for _, usual in ipairs(USUAL) do
        local found = look_at(usual)
        if found and found.recent and found.torch then return check(found) end
        first = first or found
    end
    if not first then fault.raise("UNAVAILABLE", "no Python interpreter: install python3 and PyTorch") end
    return check(first)
end

-- An interpreter that was not built with the sanitizer ends when it loads a library that was.
local function check_loadable(file)
    if assert(fs.read(file)):find("__asan_init", 1, true) then
        fault.raise("UNAVAILABLE", "%s is a sanitizer build, which an interpreter cannot load", file)
    end
    return fs.absolute(file)
end

local function library()
    local program = assert(fs.program_dir())
    for _, place in ipairs { "libako.so", "../lib/libako.so" } do
        local file = fs.join(program, place)
        if fs.exists(file) then return check_loadable(file) end
    end
    fault.raise("UNAVAILABLE", "no libako.so in %s or beside it, in ../lib", program)
end

--- The member "python" of the evaluator's hello (docs/protocol.md), and what is known of the interpreter, as `find` has
--- it. Raises UNAVAILABLE.
function python.facts(given)
    local program, details = python.find(given)
    local found = { program = program, library = library(),
        script = fs.absolute(fs.join(host.home, "stdlib/python/nursery.py")) }
    for _, file in pairs(found) do
        local wrong = paths.fault_of_text(file) -- it travels as JSON
        if wrong then fault.raise("UNAVAILABLE", "%s: its path %s: it must lie elsewhere", file, wrong) end
    end
    return found, details
end

return python

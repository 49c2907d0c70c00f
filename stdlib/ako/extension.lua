-- Extensions of PyTorch in C++ or CUDA, as far as the text of a solution tells: one that asks for some when it is
-- imported (load_inline), or that is one itself, with a pybind module. core/worker/extensions.c builds them.

local path = require "ako.path"

local extension = {}

local SUFFIXES = { cu = true, cpp = true, cc = true }

local function has_module(text) return text:find("PYBIND11_MODULE", 1, true) ~= nil end

--- True for a source { name, text } in C++ or CUDA that is an extension as it is: a solution in Python's lane.
function extension.is_one(source) return SUFFIXES[path.extension(source.name)] == true and has_module(source.text) end

--- Whether a solution's text may ask for some: a build that takes long, by a compiler and with PyTorch's headers.
function extension.is_asked_for(text) return text:find("load_inline", 1, true) ~= nil or has_module(text) end

return extension

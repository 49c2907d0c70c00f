-- A seal is a hash over the lines of a journal, each with the seal before it. Who writes the next line renews it
-- without reading the others again.

local fs = require "ako.fs"
local git = require "ako.git"

local seal = {}

--- The seal of lines with one more (without its newline); "" is that of none.
function seal.add(before, line) return git.hash(before .. line) end

--- The seal of a text whose lines all end.
function seal.of(text)
    local made = ""
    for line in text:gmatch("([^\n]*)\n") do made = seal.add(made, line) end
    return made
end

--- What tells, without reading it, that a file is the same with the same content; nil where there is none.
function seal.identity(path)
    local st = fs.stat(path)
    return st and ("%d %d %d %d"):format(st.size, st.mtime_ns, st.ctime_ns, st.inode)
end

return seal

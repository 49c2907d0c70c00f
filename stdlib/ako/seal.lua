-- A seal is a hash over the lines of a journal, each with the seal before it. Who writes the next line renews it
-- without reading the others again.

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

return seal

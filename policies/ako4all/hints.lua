-- HINTS.md: what the user wants of the optimizing, a directive a line, each with its source. What was written there
-- once stays until somebody deletes it.

local format = require "ako.format"
local fs = require "ako.fs"

local hints = {}

--- Where directives are kept, in the workspace.
hints.FILE = "HINTS.md"

local TEMPLATE = [[
# Hints

A directive a line, with its source. Yours to edit; whoever optimizes reads this first and keeps to it.
`--hint='one; another'` and `--hints=FILE` add lines here, and only a deleted line is forgotten.
"at most N iterations" ends the run there; "do not use ncu" leaves the profiler out.

## Directives

]]

-- Reading

-- "- avoid shared memory (from the command line)"
local function directive_of(line)
    local text = line:match("^%s*[-*]%s+(.-)%s*$")
    if not text or text == "" then return nil end
    local words, source = text:match("^(.-)%s+%(from ([^()]+)%)$")
    return { text = words or text, source = source or hints.FILE }
end

--- The directives of a HINTS.md: { text, source } each.
function hints.read(text)
    local list = {}
    for line in ((text or "") .. "\n"):gmatch("(.-)\r?\n") do list[#list + 1] = directive_of(line) end
    return list
end

local function plain(text) return (text:lower():gsub("[^%w]+", " "):gsub("^ ", ""):gsub(" $", "")) end

local function from_command_line(text)
    local list = {}
    for part in text:gmatch("[^;\n]+") do
        local words = format.line(part):match("^%s*(.-)%s*$")
        if words ~= "" then list[#list + 1] = { text = words, source = "the command line" } end
    end
    return list
end

-- Headings and blank lines are none.
local function from_file(file)
    local text, problem = fs.read(file)
    if not text then return nil, ("--hints=%s: %s"):format(file, problem) end
    local list = {}
    for line in (text .. "\n"):gmatch("(.-)\r?\n") do
        local words = format.line(line):match("^%s*[-*]?%s*(.-)%s*$")
        if words ~= "" and not line:find("^%s*#") then list[#list + 1] = { text = words, source = file } end
    end
    return list
end

--- What the options bring; nil and why not.
function hints.given(opt)
    local list = from_command_line(opt.hint)
    if opt.hints == "" then return list end
    local more, problem = from_file(opt.hints)
    if not more then return nil, problem end
    return table.move(more, 1, #more, #list + 1, list)
end

-- Merging

local function is_known(list, text)
    for _, directive in ipairs(list) do
        if plain(directive.text) == plain(text) then return true end
    end
end

--- The text of HINTS.md (nil: none yet) with what is given, and the list of what was not in it before.
function hints.merged(text, given)
    local known, added, lines = hints.read(text), {}, { text or TEMPLATE }
    if not lines[1]:find("\n$") then lines[1] = lines[1] .. "\n" end
    for _, directive in ipairs(given) do
        if not is_known(known, directive.text) then
            known[#known + 1], added[#added + 1] = directive, directive
            lines[#lines + 1] = ("- %s (from %s)\n"):format(directive.text, directive.source)
        end
    end
    return table.concat(lines), added
end

--- What was added, in a line.
function hints.announced(added)
    local texts = {}
    for i, directive in ipairs(added) do texts[i] = ("'%s' from %s"):format(directive.text, directive.source) end
    return ("%s: added %s: %s"):format(hints.FILE, format.count(#added, "directive"), table.concat(texts, ", "))
end

-- Meaning

local AGAINST = { "do not use ", "don t use ", "never use ", "avoid using ", "do not ", "don t ", "never ", "avoid ",
    "without ", "skip ", "leave out ", "no " }
local FOR = { "always use ", "must use ", "only use ", "prefer using ", "prefer ", "always ", "use " }

local function after_any(text, beginnings)
    for _, beginning in ipairs(beginnings) do
        if text:sub(1, #beginning) == beginning then return text:sub(#beginning + 1) end
    end
end

-- Whether a directive wants something, and what.
local function wish_of(text)
    local words = plain(text)
    local unwanted = after_any(words, AGAINST)
    local object = unwanted or after_any(words, FOR) or words
    return unwanted == nil, (object:gsub("^an? ", ""):gsub("^the ", ""):gsub("^any ", ""))
end

local LIMITS = { "at most", "no more than", "stop after", "up to", "max", "cap", "limit" }

local function cap_of(text)
    local words = plain(text)
    local count = words:match("(%d+) iteration") or words:match("(%d+) trial") or words:match("iterations? (%d+)")
    for _, limit in ipairs(LIMITS) do
        if count and words:find(limit, 1, true) then return math.tointeger(tonumber(count)) end
    end
end

--- The number of iterations at which these directives end the run, nil without one.
function hints.cap(list)
    for _, directive in ipairs(list) do
        local cap = cap_of(directive.text)
        if cap then return cap end
    end
end

--- True where these directives leave something out, "ncu" for example.
function hints.forbids(list, name)
    for _, directive in ipairs(list) do
        local wanted, object = wish_of(directive.text)
        if not wanted and (" " .. object .. " "):find(" " .. name .. " ", 1, true) then return true end
    end
    return false
end

local function contradict(a, b)
    local a_wants, a_object = wish_of(a.text)
    local b_wants, b_object = wish_of(b.text)
    local a_cap, b_cap = cap_of(a.text), cap_of(b.text)
    if a_cap and b_cap then return a_cap ~= b_cap end
    return a_wants ~= b_wants and a_object == b_object
end

--- The first two directives that cannot both be kept, in a line; nil when all can.
function hints.contradiction(list)
    for i, a in ipairs(list) do
        for j = i + 1, #list do
            local b = list[j]
            if contradict(a, b) then
                return ("'%s' (%s) contradicts '%s' (%s): delete one of them from %s, or leave it out"):format(b.text,
                    b.source, a.text, a.source, hints.FILE)
            end
        end
    end
end

return hints

-- The user's own benchmark: run as it stands on what is tried, by ako.bench, which says what its words are worth. The
-- first call that names it leaves it in scripts/bench.json for the later ones.

local json = require "ako.json"
local regex = require "ako.regex"

local bench = {}

--- Where it is kept, in the workspace.
bench.FILE = "scripts/bench.json"

--- For the option that holds the pattern.
function bench.is_pattern(text)
    local good, problem = pcall(regex.new, text)
    return good, good and "" or "is no regular expression: " .. tostring(problem)
end

-- What was kept; nil where nothing was, or the file is somebody else's.
local function kept(facts)
    local text = facts.read(bench.FILE)
    local value = text and json.decode(text)
    if type(value) ~= "table" then return nil end
    for name, item in pairs(value) do
        if not (name == "command" or name == "pattern") or type(item) ~= "string" then return nil end
    end
    return value.command and value or nil
end

--- True where a file of the user's own has that name: it is left alone, and nothing is kept.
function bench.is_taken(facts) return facts.exists(bench.FILE) and not kept(facts) end

--- { command, pattern } of the options, else of the workspace; nil without one, false where none is wanted.
function bench.chosen(facts, opt)
    if opt.bench == "default" then return false end
    if opt.bench == "" then return kept(facts) end
    return { command = opt.bench, pattern = opt.bench_pattern }
end

--- The hook `bench`: what a task says in `bench`, or nil for the task's own, false for none.
function bench.given(facts, opt)
    local chosen = bench.chosen(facts, opt)
    if not chosen then return chosen end
    local pattern = chosen.pattern ~= "" and chosen.pattern or nil
    return { "sh", "-c", chosen.command, claims = pattern and { figure = pattern } }
end

--- A file for the scaffold: path and text, nil where nothing is to be kept, or nowhere.
function bench.keepsake(facts, opt)
    if opt.bench == "" or opt.bench == "default" or bench.is_taken(facts) then return nil end
    return bench.FILE, json.encode(bench.chosen(facts, opt)) .. "\n"
end

return bench

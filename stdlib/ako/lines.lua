-- A list whose items are read when somebody asks for them: of a journal's lines only the places are kept, so that ten
-- thousand trials cost neither time nor memory until they are looked at. `#`, `[i]`, ipairs and pairs work as with any
-- list; it grows by lines.add alone.

local lines = {}

local OF = {} -- the key of what a list is made of
local PLACE = "%012x" -- of a line, in the list's text
local WIDTH = 12

local function place(of, i)
    if i > of.known then return of.added[i - of.known] end
    return tonumber(of.text:sub((i - 1) * WIDTH + 1, i * WIDTH), 16)
end

local function count_of(of) return of.known + #of.added end

local function item(of, i)
    local found = of.cache[i]
    if not found then
        found = of.read(place(of, i))
        of.cache[i] = found
    end
    return found
end

local function refuse() error("this list grows with the journal alone", 2) end

-- A list over `of` whose items get(of, i) gives.
local function make(of, get, count)
    local meta = { __newindex = refuse }
    function meta.__len() return count(of) end
    function meta.__index(_, i)
        if math.type(i) == "integer" and i >= 1 and i <= count(of) then return get(of, i) end
    end
    function meta.__pairs(list)
        return function(_, i)
            i = (i or 0) + 1
            if i <= count(of) then return i, get(of, i) end
        end, list, nil
    end
    return setmetatable({ [OF] = of }, meta)
end

--- A list whose lines read(at) gives, `at` being where one begins; `text` is what lines.text said of an earlier list.
function lines.new(read, text)
    text = text or ""
    local of = { read = read, text = text, known = #text // WIDTH, added = {}, changes = {},
        cache = setmetatable({}, { __mode = "v" }) }
    return make(of, item, count_of)
end

--- True for a list of this module's.
function lines.is_list(value) return type(value) == "table" and rawget(value, OF) ~= nil end

--- Adds a line that begins at `at`.
function lines.add(list, line, at)
    local of = rawget(list, OF)
    of.added[#of.added + 1] = at
    of.cache[count_of(of)] = line
    of.newest = line -- the one that is asked for most
end

--- Says that item `i` is another one now, for views that have a copy of it.
function lines.touch(list, i)
    local changes = rawget(list, OF).changes
    changes[i] = (changes[i] or 0) + 1
end

--- The places as a text, for lines.new.
function lines.text(list)
    local of = rawget(list, OF)
    local parts = { of.text }
    for i, at in ipairs(of.added) do parts[i + 1] = PLACE:format(at) end
    of.text = table.concat(parts)
    of.known, of.added = #of.text // WIDTH, {}
    return of.text
end

local function copied(view, i)
    local changes = view.of.changes[i]
    local kept = view.kept[i]
    if not kept or kept.changes ~= changes then
        local known = view.of.cache[i] -- what is read for the view alone needs no copy
        kept = { changes = changes, copy = known and view.copy(known) or view.of.read(place(view.of, i)) }
        view.kept[i] = kept
    end
    return kept.copy
end

--- A list of copies of the items, each made by copy(item) when it is first asked for and kept from then on.
function lines.view(list, copy)
    return make({ of = rawget(list, OF), copy = copy, kept = {} }, copied, function(view) return count_of(view.of) end)
end

return lines

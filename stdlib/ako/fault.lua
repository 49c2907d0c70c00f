-- Mistakes in what the user wrote (a task, a launch line), carried from deep inside a checker to its caller as one
-- line. Inside, `fault.raise` leaves at once; the public function wraps its work in `fault.catch` and returns
-- `nil, message, code`. Anything else that is raised stays what it is: a defect of ours, with its traceback.

local fault = {}

local Fault = { __name = "ako.fault" }
Fault.__tostring = function(self) return self.message end

--- Raises a fault. `code` names its kind ("INVALID" when nil).
function fault.raise(code, format, ...)
    error(setmetatable({ code = code or "INVALID", message = format:format(...) }, Fault), 0)
end

--- Raises an INVALID fault unless `condition` holds; returns the condition.
function fault.check(condition, format, ...)
    if not condition then fault.raise("INVALID", format, ...) end
    return condition
end

--- Returns `result`; raises what came in its place, `nil, problem, code`, as a fault.
function fault.must(result, problem, code)
    if result == nil then fault.raise(code, "%s", problem) end
    return result
end

--- As `must`, for what the program wrote itself: when that is not found it is damage, not a wrong word of the user's.
function fault.ours(result, problem, code)
    return fault.must(result, problem, code == "NOTFOUND" and "CORRUPT" or code)
end

-- Keeps the traceback of a defect, which would be lost when it is raised again.
local function with_traceback(problem)
    if type(problem) ~= "string" or problem:find("\nstack traceback:", 1, true) then return problem end
    return debug.traceback(problem, 2)
end

--- Calls f(...). Returns its results, or `nil, message, code` when it raised a fault.
function fault.catch(f, ...)
    local results = table.pack(xpcall(f, with_traceback, ...))
    if results[1] then return table.unpack(results, 2, results.n) end
    local problem = results[2]
    if getmetatable(problem) == Fault then return nil, problem.message, problem.code end
    error(problem, 0)
end

--- Calls f(...) and returns its results; a fault inside gets `prefix` put before its message and goes on.
function fault.within(prefix, f, ...)
    local results = table.pack(fault.catch(f, ...))
    if results[1] == nil and results.n == 3 then fault.raise(results[3], "%s%s", prefix, results[2]) end
    return table.unpack(results, 1, results.n)
end

--- Wraps f so that its faults come back as `nil, message, code`.
function fault.returns(f)
    return function(...) return fault.catch(f, ...) end
end

--- The known name nearest to `name` when it is close enough to be a slip of the pen, as " (did you mean 'B'?)";
--- "" otherwise. `known` is a set (name -> anything) or an array of names.
function fault.nearest(name, known)
    local best, best_distance
    local most = math.max(1, #name // 3)
    for key, value in pairs(known) do
        local candidate = math.type(key) == "integer" and value or key
        -- Lengths further apart than `most` are edits enough; comparing a name of many kilobytes would take seconds.
        if type(candidate) == "string" and math.abs(#candidate - #name) <= most then
            local distance = fault.distance(name:lower(), candidate:lower())
            local closer = not best or distance < best_distance or (distance == best_distance and candidate < best)
            if closer then best, best_distance = candidate, distance end
        end
    end
    if not best or best_distance > most or best_distance >= #name then return "" end
    return (" (did you mean '%s'?)"):format(best)
end

--- Edits (insert, delete, replace, swap of neighbours) that turn one string into the other: the restricted
--- Damerau-Levenshtein distance.
function fault.distance(a, b)
    local before
    local last = {}
    for j = 0, #b do last[j] = j end
    for i = 1, #a do
        local row = { [0] = i }
        for j = 1, #b do
            local same = a:byte(i) == b:byte(j)
            row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same and 0 or 1))
            local swapped = i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j)
            if swapped then row[j] = math.min(row[j], before[j - 2] + 1) end
        end
        before, last = last, row
    end
    return last[#b]
end

return fault

-- Who evaluates which problem of a suite, among several workers: a folder for each problem, whose lock is the claim.
-- The kernel gives a lock back when its holder dies, however it dies: nothing of a killed worker's has to be cleaned.

local fault = require "ako.fault"
local fs = require "ako.fs"

local suite_claims = {}

local Claim = {}
Claim.__index = Claim

local MOST_ATTEMPTS = 2 -- of a pair that its workers do not survive

local must = fault.must

--- Claims a problem by its number, below `folder`: the claim, or nil where another worker has it or it is done. Raises
--- faults.
function suite_claims.take(folder, number)
    local place = fs.join(folder, tostring(number))
    if fs.exists(fs.join(place, "done")) then return nil end
    must(fs.mkdirs(place))
    local lock, problem, code = fs.lock(place)
    if not lock and code == "BUSY" then return nil end
    if not lock then fault.raise(code, "%s; results must lie where folders can be locked (--results)", problem) end
    local claim = setmetatable({ place = place, lock = lock }, Claim)
    if not fs.exists(fs.join(place, "done")) then return claim end -- it may have been finished since
    claim:close()
    return nil
end

--- Begins with a pair: how often that has been done before, with this time, or nil when that is often enough.
function Claim:begin(key)
    for attempt = 1, MOST_ATTEMPTS do
        local mark = fs.join(self.place, ("%s-%d"):format(key, attempt))
        if not fs.exists(mark) then
            must(fs.write(mark, ""))
            return attempt
        end
    end
end

--- All of the problem's pairs have their results.
function Claim:finish() must(fs.write(fs.join(self.place, "done"), "")) end

--- Gives it back; closing twice is fine.
function Claim:close()
    if self.lock then self.lock:close() end
    self.lock = nil
end

Claim.__close = Claim.close

return suite_claims

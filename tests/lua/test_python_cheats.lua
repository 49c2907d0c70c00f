-- Every file of tests/cheats/python in a whole trial against an honest incumbent, on the CPU and, if there is one, on
-- the GPU: cheats end as their first line says and are never kept, honest solutions pass.
local cheats = require "cheats"
local console = require "ako.console"
local fs = require "ako.fs"
local t = require "ako.tap"

local ledger = cheats.ledger()
local honest, refused = 0, 0

-- On a busy machine the clocks may seem to disagree about anybody; a fraud would be one in every trial.
local TRIES = { UNTRUSTED_TIMING = 3, UNSTABLE = 3 }

local function try_again(stand, claim)
    local n, result = 0
    repeat
        n, result = n + 1, stand:try(stand:unit(claim.file))
        local outcome = result.status .. " " .. (result.code or "")
    until n >= (TRIES[result.status] or 1) or cheats.is_expected(claim.expected, outcome)
    if n > 1 then console.out(("# %s: %d trials\n"):format(claim.file, n)) end
    return result
end

local function try_honest(stand, claim)
    local result = try_again(stand, claim)
    local lacks = result.status == "COMPILE_ERROR" and result.reason:find("needs the module", 1, true)
    if lacks then t.skip(result.reason) end
    honest = honest + 1
    if result.status ~= "PASSED" then refused = refused + 1 end
    local text = ("%s %s: %s"):format(result.status, result.code, result.reason)
    t.ok(cheats.is_expected(claim.expected, result.status), text)
end

local function try_one(stand, claim)
    if claim.threats == "honest" then return try_honest(stand, claim) end
    ledger:try(claim, function() return try_again(stand, claim) end)
end

-- A folder's claims are about the problem that lies in it, or else about that of all.
local FOLDERS = { { "", "incumbent.py" }, { "tuple", "as_tuple.py" }, { "running", "as_given.py" } }

local function try_folder(started, id, folder, incumbent)
    local stand, why = cheats.open_problem(started, folder, incumbent)
    if not stand then return t.test(("Python on %s"):format(id), function() t.skip(why) end) end
    for _, claim in ipairs(cheats.python(folder, started.place)) do
        t.test(("%s on %s, %s"):format(claim.file, id, claim.words), function() try_one(stand, claim) end)
    end
    if folder ~= "" then return end
    for _, claim in ipairs(cheats.python("honest", started.place)) do
        t.test(("%s on %s, %s"):format(claim.file, id, claim.words), function()
            claim.file = "honest/" .. claim.file
            try_honest(stand, claim)
        end)
    end
    t.test("an honest solution passes after all of them", function() stand:assert_good() end)
end

for _, id in ipairs(cheats.devices()) do
    local started, why = cheats.start_python(id)
    if started then
        for _, one in ipairs(FOLDERS) do try_folder(started, id, table.unpack(one)) end
        started:close()
    else
        t.test(("Python on %s"):format(id), function() t.skip(why) end)
    end
end

t.test("docs/threats.md names each of them", function()
    local text = assert(fs.read "docs/threats.md")
    for _, one in ipairs(FOLDERS) do
        for _, claim in ipairs(cheats.python(one[1])) do
            local named = claim.threats == "honest" or text:find(claim.file:match("^[^.]+"), 1, true)
            t.ok(named, claim.file .. " is not named")
        end
    end
end)

t.test("no Python cheat was kept, no honest solution refused", function()
    ledger:print "Python cheats"
    console.out(("# %d of %d honest Python solutions refused\n"):format(refused, honest))
    t.eq(ledger.kept, 0)
    t.eq(refused, 0)
end)

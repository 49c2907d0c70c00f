-- What a candidate's process had given up is part of the record, and so of the journal.
local json = require "ako.json"
local t = require "ako.tap"
local trial = require "ako.trial"

local context = { task = { workloads = {} }, statistic = "mean" }

t.test("a record says how the candidate was confined", function()
    local said = { no_new_privs = true, landlock = "unavailable: Landlock: Function not implemented",
        environment = json.array { "PATH" } }
    local record = trial.record({ status = "PASSED", workloads = {}, confinement = said }, context)
    t.eq(json.decode(json.encode(record)).confinement, said)
end)

t.test("a trial that never reached a candidate claims nothing", function()
    t.eq(trial.without_result("COMPILE_ERROR", "why", context).confinement, nil)
end)

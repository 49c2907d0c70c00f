-- The files of a trial beside the journal: what was tried, how it was built and timed, and what came of it.

local fault = require "ako.fault"
local fs = require "ako.fs"
local json = require "ako.json"

local evidence = {}

local must = fault.ours

--- Writes a record and what is `given` of sources, build_log, samples, bench_log and proposer_log into `folder`. Raises
--- faults.
function evidence.write(folder, record, given)
    fs.remove_tree(folder) -- there only when a kill came before the record
    must(fs.mkdirs(folder))
    for _, source in ipairs(given.sources or {}) do
        local file = fs.join(fs.join(folder, "sources"), source.name)
        must(fs.mkdirs(fs.dirname(file)))
        must(fs.write(file, source.text))
    end
    must(fs.write(folder .. "/build.log", given.build_log or ""))
    if given.bench_log then must(fs.write(folder .. "/bench.log", given.bench_log)) end
    if given.proposer_log then must(fs.write(folder .. "/proposer.log", given.proposer_log)) end
    must(fs.write(folder .. "/samples.json", json.encode(given.samples or {}) .. "\n"))
    must(fs.write(folder .. "/result.json", json.encode(record) .. "\n"))
end

return evidence

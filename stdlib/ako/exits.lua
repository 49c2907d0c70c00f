-- Exit codes of the program, as docs/manual.md has them.

local exits = { DONE = 0, NOT_BETTER = 1, USAGE = 2, INCONCLUSIVE = 3, POLICY = 4, LACKING = 5, BUILD = 10,
    INCORRECT = 11, CRASHED = 12, REJECTED = 13, TIMEOUT = 124, UNMEASURED = 125, INTERRUPTED = 130 }

local OF_STATUS = { COMPILE_ERROR = exits.BUILD, INCORRECT_SHAPE = exits.INCORRECT, INCORRECT_DTYPE = exits.INCORRECT,
    INCORRECT_NUMERICAL = exits.INCORRECT, RUNTIME_ERROR = exits.CRASHED, REJECTED = exits.REJECTED,
    REWARD_HACK = exits.REJECTED, TIMEOUT = exits.TIMEOUT }
local OF_VERDICT = { keep = exits.DONE, revert = exits.NOT_BETTER, inconclusive = exits.INCONCLUSIVE }
-- Rights and room on a disk are things that a machine can lack.
local OF_CODE = { INVALID = exits.USAGE, NOTFOUND = exits.USAGE, EXISTS = exits.USAGE, LIMIT = exits.USAGE,
    UNAVAILABLE = exits.LACKING, IO = exits.LACKING, NOMEM = exits.LACKING, CANCELLED = exits.INTERRUPTED,
    POLICY = exits.POLICY, PROTECTED = exits.REJECTED, TIMEOUT = exits.TIMEOUT }
-- In the middle of a trial nothing is a wrong word on the command line any more.
local OF_INFRA = { UNAVAILABLE = exits.LACKING, IO = exits.LACKING, NOMEM = exits.LACKING,
    CANCELLED = exits.INTERRUPTED }

--- For a failure of the outside world, by its code ("NOTFOUND").
function exits.of_code(code) return OF_CODE[code] or exits.UNMEASURED end

--- For the record of a trial (ako.trial); a verdict by hand counts.
function exits.of_record(record)
    if record.status == "PASSED" then return OF_VERDICT[record.override or record.verdict] end
    if record.status == "INFRA" then return OF_INFRA[record.code] or exits.UNMEASURED end
    return OF_STATUS[record.status] or exits.UNMEASURED
end

return exits

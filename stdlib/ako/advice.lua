-- What to do after a trial, in one line: the `next` of a record.

local trial = require "ako.trial"

local advice = {}

-- What `try` could not measure stays in the workspace: it is the user's work, and no verdict speaks against it.
function advice.is_unjudged_edit(record) return not record.candidate and trial.is_unmeasured(record.status) end

local function mend_build(log)
    return log and "mend the first error in " .. log or "mend the line that the reason names"
end

local function mend_task(best)
    if best then return "mend the task, not the kernel, and begin another session with --session=NAME" end
    return "mend the task, not the kernel (`doctor` says more)"
end

-- What is to be mended, nil where the attempt was just not good enough.
local function remedy(record, best, log)
    local option = record.reason:match("not justified %((%-%-[%w-]+)%)")
    if record.status == "COMPILE_ERROR" then return mend_build(log) end
    if record.status == "INVALID_REFERENCE" then return mend_task(best) end
    if record.status:find("^INCORRECT") then return "mend the result before its speed" end
    if record.code == "PROTECTED" then
        return "undo that change, or begin another session with --session=NAME"
    end
    if record.bench and record.bench.refused and record.code == "T6" then
        return "see to it that the benchmark alone prints such a line, and once"
    end
    if record.code == "NOMEM" then return "take smaller workloads, or another --device" end
    if record.no_effect then return "change something that reaches the machine code" end
    if option and not best then -- a first trial is not made twice
        return ("find what the kernel or the task leaves out, or say why it is real in another session: --session=NAME "
            .. "and %s=TEXT"):format(option)
    elseif option then
        return ("find what the kernel or the task leaves out, or say why it is real with %s=TEXT"):format(option)
    end
end

--- What is next after a record that has its verdict. `best` is the best before it, nil for a first trial; `log` what
--- the user calls the file with the compiler's words, nil where it said nothing.
function advice.next(record, best, log)
    if record.verdict == "keep" then return "build on it" end
    local found, unmeasured = remedy(record, best, log), trial.is_unmeasured(record.status)
    if advice.is_unjudged_edit(record) then
        return ("it was not judged and its files stay as they are; %s"):format(found or "try it again")
    end
    if unmeasured then found = "it was not judged; " .. (found or "try it again") end
    if not best and record.status == "PASSED" then
        return (found or "settle that") .. ", or go on from it all the same"
    end
    if not best then return found or "the first trial must pass; mend it" end
    if not found then return "the best is back in the workspace; try another idea" end
    return found .. "; the best is back in the workspace, this attempt is under sources/ of its records"
end

return advice

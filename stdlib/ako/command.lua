-- A proposer that is a shell command: it is run in the workspace, gets the brief on standard input and as a file, edits
-- the solution and exits; 0 says that the edit is a proposal. It is a stranger: whatever it leaves behind, the run goes
-- on from the best or ends with one line.

local brief = require "ako.brief"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local leftovers = require "ako.leftovers"
local path = require "ako.path"
local process = require "ako.process"
local proposal = require "ako.proposal"
local trial = require "ako.trial"

local command = {}

local Command = {}
Command.__index = Command

local NS = 1000000000
local LOG_BYTES = 1 << 20 -- of a command's output; of more the middle is left out
local LONGEST_LINE = 200 -- characters of what a command says of its end
local LONGEST_TEXT = 1000 -- characters of a hypothesis or a reason; what is more was not written to be read
local LEAST_GAIN, MOST_GAIN = -100, 1000000 -- in per cent, as --predict has it

local must = fault.must

--- Raises NOTFOUND when a command plainly cannot be run in a folder: its first word is none that the shell knows.
function command.check(text, folder)
    fault.check(text:find("%S"), "--propose needs a command")
    local is_there = folder ~= nil and fs.is_dir(folder)
    local word = text:match("^%s*([%w_./][%w_./+-]*)%f[%s;|&\0]")
    if not word or (word:find("/") and not is_there) then return end
    local known = must(process.run { "sh", "-c", 'command -v "$1"', "sh", word, cwd = is_there and folder or nil })
    if not known.ok then fault.raise("NOTFOUND", "--propose: there is no command %s", word) end
end

-- What the command is told

-- One line and not a long one: no system starts a program with variables of any size.
local function reason_of(text) return format.cut(format.line(text or ""), LONGEST_TEXT) end

-- The brief, and what became of the last proposal where no trial came of it.
local function text_for(self, loop)
    local text = brief.text(loop:view(), { policy = loop.policy, opt = loop.opt, hook = loop.hook, proposer = true,
        command = self.policy and ("%s %s"):format(self.program, self.policy) })
    local refused = loop.refused
    if not refused then return text end
    return ("%syour last proposal was not tried: %s; that makes %d in a row, after %d the run ends\n"):format(text,
        reason_of(refused.reason), refused.count, refused.most)
end

local function absolute(folder, names)
    local list = {}
    for i, name in ipairs(names) do list[i] = fs.join(folder, name) end
    return list
end

local function environment(self, loop, line)
    local session, refused = loop.session, loop.refused or {}
    local last, files = session.history[#session.history], absolute(session.ws.folder, session.paths)
    local env = { AKO_SESSION = session.name, AKO_TRIAL = line.trial, AKO_PROPOSAL = line.proposal,
        AKO_SECONDS = self.seconds, AKO_WORKSPACE = session.ws.folder, AKO_SOLUTION = files[1],
        AKO_SOLUTION_FILES = table.concat(files, "\n"), AKO_TASK = fs.absolute(loop.task.file) or loop.task.file,
        AKO_DEVICE = loop.evaluator.device.id, AKO_RECORDS = session.folder, AKO_BRIEF = self.brief,
        AKO_HYPOTHESIS_FILE = self.hypothesis, AKO_BEST = session.best.trial,
        AKO_LAST_TRIAL = last.trial, AKO_LAST_FILES = fs.join(session.folder, "trials/" .. last.trial),
        AKO_STATUS = last.status, AKO_VERDICT = last.override or last.verdict, AKO_REASON = reason_of(last.reason),
        AKO_REFUSED = reason_of(refused.reason), AKO_REFUSALS = refused.count or 0, AKO_POLICY = self.policy,
        AKO_LUA = self.program,
        PYTHONDONTWRITEBYTECODE = "1" } -- beside modules in protected folders, it would void the trial
    for name, value in pairs(env) do
        env[name] = type(value) == "string" and value:gsub("%z", "") or tostring(value)
    end
    return env
end

-- What the command says of its edit

--- True for a gain that somebody may expect, in per cent.
function command.is_forecast(gain) return gain >= LEAST_GAIN and gain <= MOST_GAIN end

--- The hypothesis in a text, and the gain that it predicts: "predict: 5 %" on a line of its own. Nil for what is not
--- there.
function command.read_hypothesis(text)
    local predict
    local words = text:gsub("[^\n]+", function(line)
        local number = tonumber(line:lower():match("^%s*predict:%s*([+-]?[%d.]+)%s*%%?%s*$") or "")
        if not number or not command.is_forecast(number) then return nil end
        predict = predict or number
        return ""
    end)
    words = format.line(words):match("^%s*(.-)%s*$")
    return words ~= "" and format.cut(words, LONGEST_TEXT) or nil, predict
end

-- Why the command's exit is none of a proposal, or nil.
local function failure(self, result)
    if result.ok then return nil end
    if result.timed_out then return ("no proposal within %g s"):format(self.seconds) end
    local said = format.last_line(result.stdout .. "\n" .. result.stderr)
    return said and ("%s: %s"):format(result.how, format.cut(said, LONGEST_LINE)) or result.how
end

local function name_of(head) return head.ref and head.ref:gsub("^refs/heads/", "") or "no branch" end

-- The user's branch is the user's: what a command did to it is said and never undone.
local function say_moves(loop, before)
    local after, problem = loop.session.repo:head()
    if not after then
        loop.progress:note("     HEAD cannot be read after the proposer's work: " .. problem)
    elseif before.ref ~= after.ref then
        loop.progress:note(("     the proposer has switched from %s to %s; that stays"):format(name_of(before),
            name_of(after)))
    elseif before.oid ~= after.oid then
        loop.progress:note(("     the proposer has moved %s from %s to %s; that stays"):format(name_of(before),
            (before.oid or "nothing"):sub(1, 8), (after.oid or "nothing"):sub(1, 8)))
    end
end

-- A round

local function prepare(self, loop, line)
    local folder = loop.session.folder
    self.brief, self.hypothesis = fs.join(folder, "brief.txt"), fs.join(folder, "hypothesis.txt")
    for _, file in ipairs { self.brief, self.hypothesis } do must(fs.remove_tree(file)) end
    local text = text_for(self, loop)
    must(fs.write(self.brief, text))
    return { "sh", "-c", "exec 2>&1; " .. self.text, stdin = text, cwd = loop.session.ws.folder,
        env = environment(self, loop, line), limit_ns = math.ceil(self.seconds * NS), output_cap = LOG_BYTES }
end

-- Runs the command with the journal out of our hands. Returns its result; or nil, why there is none, and a code.
local function run(self, loop, line)
    local session = loop.session
    local request = prepare(self, loop, line)
    must(session:lend())
    local result, problem, code = process.run(request)
    local returned, damage, damage_code = session:take_back()
    if returned then return result, problem, code end
    local restored, why = fault.catch(proposal.discard, session, line.proposal, "the records were changed")
    fault.raise(damage_code, "%s (%s)", damage, restored == nil and why and "the best is not back: " .. why
        or "the best is back")
end

local function header_of(self, line, result)
    return ("proposal %d: %s\n%s after %.1f s\n\n"):format(line.proposal, self.text,
        result.timed_out and "out of time" or result.how, result.wall_ns / NS)
end

-- What was tried last and reverted, given once more: words for it, or nil.
local function repetition(session)
    local last = session.history[#session.history]
    if trial.verdict(last) ~= "revert" then return nil end
    for _, name in ipairs(session.paths) do
        local text = fs.read(fs.join(session.ws.folder, name))
        if text == nil or text ~= session.repo:read(last.commit, name) then return nil end
    end
    return ("it is what trial %d was, which is reverted"):format(last.trial)
end

-- A proposal of which no trial can come.
local function reject(loop, line, why, log)
    local session = loop.session
    must(fs.mkdirs(session.folder .. "/proposals"))
    must(fs.write(("%s/proposals/%d.log"):format(session.folder, line.proposal), log))
    local kept = must(session:withdraw(why))
    return { nothing = kept and ("%s (what it left is kept: %s)"):format(why, kept) or why }
end

local function judge(self, loop, line, result)
    local session, log = loop.session, header_of(self, line, result) .. result.stdout .. result.stderr
    local found = proposal.inspect(session)
    local hypothesis, predict = command.read_hypothesis(path.read_source(self.hypothesis) or "")
    local candidate = { name = ("proposal %d"):format(line.proposal), in_place = true, log = log,
        hypothesis = hypothesis, predict = predict }
    if loop:changed_protected() then -- a trial says so, whatever else there is
        if found.problem then proposal.discard(session, line.proposal, found.problem) end
        return candidate
    end
    local why = failure(self, result) or found.problem or #found.changed == 0 and "it left the solution as it was"
        or repetition(session)
    return why and reject(loop, line, why, log) or candidate
end

--- The next candidate of the loop's run: the command's edit, which lies in the workspace (.in_place), or { nothing =
--- why }. Nil and a reason when the user has interrupted it.
function Command:next(loop)
    local session = loop.session
    loop:check_best()
    local head = must(session.repo:head())
    local line = must(session:propose())
    loop.progress:start(line.trial, { candidate = ("proposal %d, at work"):format(line.proposal) })
    local result, problem, code = run(self, loop, line)
    if code == "CANCELLED" then
        loop.cancelled = true
        return nil, "interrupted"
    end
    say_moves(loop, head)
    return judge(self, loop, line, must(result, problem, code))
end

--- Ends what is still at work of a proposal (the session's folder and its number) whose run was killed. Raises BUSY
--- where this program itself belongs to it.
function command.stop_leftovers(folder, number)
    leftovers.stop({ "AKO_RECORDS=" .. folder, "AKO_PROPOSAL=" .. number }, "a proposer")
end

--- A proposer out of a command for `sh -c`, which may take so many seconds. `policy` and `program` are the files that
--- the command needs to call `ako-lua POLICY verb` itself, nil where they are not known.
function command.new(text, seconds, policy, program)
    return setmetatable({ text = text, seconds = seconds, policy = policy, program = program }, Command)
end

return command

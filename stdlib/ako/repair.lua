-- What a kill leaves of a session, and how the next start makes it good: files in the place of the solution, an open
-- trial, a ref that was not set, git's locks, halves of files.

local branch = require "ako.branch"
local fault = require "ako.fault"
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local litter = require "ako.litter"
local trial = require "ako.trial"

local repair = {}

local must = fault.must

-- Git's locks of refs that nobody else sets.
local function locks_of(repo, state)
    local refs = { branch.attempt_ref(state.name, #state.history), ("refs/ako/%s/proposals/%d"):format(state.name,
        state.proposals or 0), state.tagging and "refs/tags/" .. state.tagging }
    local locks = {}
    for i, ref in ipairs(refs) do locks[i] = ("%s/%s.lock"):format(repo:commondir(), ref) end
    return locks
end

local function is_any_locked(repo, state)
    for _, lock in ipairs(locks_of(repo, state)) do
        if fs.exists(lock) then return true end
    end
    return false
end

--- True when a state (`session.read`) is of a session that was killed in the middle of something.
function repair.is_cut_off(repo, state)
    return (state.open or state.placed or state.proposing or state.unpublished) ~= nil or #state.pending > 0
        or state.setting ~= nil and branch.is_unset(repo, state.setting) or is_any_locked(repo, state)
end

--- Removes git's locks of refs that a killed process was setting. Only for who has the session for itself.
function repair.clear_locks(repo, state)
    for _, lock in ipairs(locks_of(repo, state)) do fs.remove_tree(lock) end
end

--- Removes what killed writes left among the records of a session. Only for who has it, or its workspace, for itself.
function repair.sweep(repo, name)
    local folder = fs.join(repo:commondir(), "ako/" .. name)
    for _, below in ipairs { folder, folder .. "/proposals", folder .. "/renderings" } do litter.sweep(below) end
end

-- Somebody has deleted refs of attempts: what git still has is named again before it is collected. One look at the
-- best's tells.
local function name_again(session)
    local best = session.best or session.original
    if not best or session.repo:resolve(branch.attempt_ref(session.name, best.trial)) == best.commit then return end
    local repo <close> = must(git.open(session.ws.folder)) -- a fresh one remembers nothing that is gone
    for _, record in ipairs(session.history) do
        local ref = branch.attempt_ref(session.name, record.trial)
        if not repo:resolve(ref) and repo:resolve(record.commit) then must(repo:set_ref(ref, record.commit)) end
    end
    if repo:resolve(best.commit .. "^{tree}") then return end
    fault.raise("CORRUPT", "session %s cannot go on: somebody has deleted refs/ako/%s, and with it git has lost the "
        .. "commit of trial %d; its files are in %s; --session=NAME begins another session", session.name, session.name,
        best.trial, session:files_of(best.trial))
end

-- Puts the best in the place of what a run has left there.
local function restore(session, intent)
    session.repaired = intent and intent.trial or session.dropped or #session.history
    local restored, problem, code = session:restore(intent and intent.commit or session.placed)
    if code ~= "BUSY" then must(restored, problem, code) end
    session.left_alone = not restored and (session.dropped and "what its files hold now stays" or problem) or nil
    session.restored = restored == true
end

local function close(session, intent)
    local record = { session = session.name, trial = intent.trial, candidate = intent.candidate,
        hypothesis = intent.hypothesis, predict = intent.predict, label = intent.label, facts = intent.facts,
        status = "INFRA", verdict = "inconclusive", reason = trial.INTERRUPTED,
        speedup = {}, interval = {}, workloads = json.array(), costs_ms = {} }
    must(session:close_trial(record, {}))
end

--- Makes good what a kill left of an opened session (ako.session): restores the best's files, closes an open trial as
--- INFRA, sets the branch. The files come first, so that they are right even where the journal cannot be written.
--- Sets .cut_off to words for what was cut off, .repaired to the number of that trial, .restored, or .left_alone to why
--- its files stayed as they are; of a proposal .set_aside, where its edit is now. Raises faults.
function repair.session(session)
    name_again(session)
    local intent = session.open
    if session.proposing then
        session.cut_off = ("proposal %d"):format(session.proposing.proposal)
        session.set_aside = must(session:withdraw("cut off")) or nil
        session.restored = true
    elseif intent and not intent.candidate then -- the user's own edit, which nobody has judged
        session.repaired, session.left_alone = intent.trial, "its files stay as they are, try again"
    elseif intent or session.placed then
        restore(session, intent)
    end
    session.cut_off = session.cut_off or session.repaired and ("trial %d"):format(session.repaired)
    if session.placed and session.overriding then
        session.cut_off = "the override of trial " .. session.overriding
    end
    if intent then close(session, intent) end
    must(session:settle())
    must(session:set_branch())
    must(session:publish())
end

return repair

-- The harness checkout beside the target's repository: cloned when missing, clean, exactly at its upstream. Only that
-- folder is ever written, only by clone, fetch and fast-forward, and no hook of it runs.

local fs = require "ako.fs"
local gates = require "ako.gates"
local git = require "ako.git"
local json = require "ako.json"
local process = require "ako.process"

local checkout = {}

local NAME = "AKO4ALL"
local UPSTREAM = "https://github.com/TongmingLAIC/AKO4ALL.git"
local TRACKED = "refs/ako-upstream/" -- what was fetched, so that later looks need no network
local MOST_NAMED = 3 -- paths in one line

-- What a task in the checkout's root itself makes; elsewhere a session's whole workspace is its own.
local OUTPUTS = { "solution/", "input/", "bench/", "context/", "ITERATIONS.md", "HANDOFF.md" }

-- The option, else the variable, else the default; an empty one is none.
local function chosen(option, variable, default)
    if option ~= "" then return option end
    local value = os.getenv(variable)
    return value ~= "" and value or default
end

--- Where the checkout is and where it comes from: { folder, upstream, url, branch (nil: upstream's default), seconds }.
--- The options --base-dir, --upstream-url, --clone-url and --branch, else AKO4ALL_UPSTREAM_URL, AKO4ALL_URL and
--- AKO4ALL_BRANCH. A task that lies in the checkout is in its own.
function checkout.settings(workspace, opt)
    local upstream = chosen(opt.upstream_url, "AKO4ALL_UPSTREAM_URL", UPSTREAM)
    local settings = { upstream = upstream, url = chosen(opt.clone_url, "AKO4ALL_URL", upstream),
        branch = chosen(opt.branch, "AKO4ALL_BRANCH"), seconds = opt.network_seconds }
    local repo = git.open(workspace)
    local root = repo and repo:workdir() or workspace
    if repo then repo:close() end
    if opt.base_dir ~= "" then
        settings.folder = fs.join(fs.absolute(opt.base_dir) or opt.base_dir, NAME)
    else
        settings.folder = fs.basename(root) == NAME and root or fs.join(fs.dirname(root), NAME)
    end
    return settings
end

-- git alone: no prompt, no variables that lead to another repository, no hooks.
local ENVIRONMENT = { GIT_TERMINAL_PROMPT = "0", GIT_ASKPASS = "true", LC_ALL = "C", GIT_DIR = false,
    GIT_WORK_TREE = false, GIT_INDEX_FILE = false, GIT_OBJECT_DIRECTORY = false }

-- What git printed; nil and one line that says why not.
local function run_git(settings, ...)
    local result, problem = process.run { "git", "-c", "core.hooksPath=/dev/null", env = ENVIRONMENT,
        limit_ns = math.floor(settings.seconds * 1e9), ... }
    if not result then return nil, problem end
    if result.ok then return result.stdout end
    if result.timed_out then return nil, ("no answer within %g s"):format(settings.seconds) end
    local said = result.stderr:match("fatal: ([^\n]+)") or result.stderr:match("([^\n]+)") or result.how
    return nil, said
end

-- Folders of the repository in which sessions work, as prefixes of paths in it.
local function own_prefixes(repo, workspace)
    local folders = { [workspace] = true }
    local sessions = fs.join(repo:commondir(), "ako")
    for _, name in ipairs(fs.list(sessions) or {}) do
        local text = fs.read(fs.join(sessions, name, "journal.jsonl")) or ""
        local header = json.decode(text:match("^[^\n]*"))
        if type(header) == "table" and type(header.workspace) == "string" then folders[header.workspace] = true end
    end
    local prefixes, root = {}, repo:workdir()
    for folder in pairs(folders) do
        if folder == root then table.move(OUTPUTS, 1, #OUTPUTS, #prefixes + 1, prefixes) end
        if folder:sub(1, #root + 1) == root .. "/" then prefixes[#prefixes + 1] = folder:sub(#root + 2) .. "/" end
    end
    return prefixes
end

local function is_own(path, prefixes)
    for _, prefix in ipairs(prefixes) do
        if path:sub(1, #prefix) == prefix then return true end
    end
end

local function dirt(repo, workspace)
    local changes, problem = repo:status()
    if not changes then return problem end
    if #changes == 0 then return nil end
    local prefixes, named, count = own_prefixes(repo, workspace), {}, 0
    for _, change in ipairs(changes) do
        if not is_own(change.path, prefixes) then
            count = count + 1
            if count <= MOST_NAMED then named[count] = ("%s %s"):format(change.code, change.path) end
        end
    end
    if count == 0 then return nil end
    local more = count > MOST_NAMED and (" and %d more"):format(count - MOST_NAMED) or ""
    return ("it has changes: %s%s; commit them elsewhere, clean it or clone it again"):format(
        table.concat(named, ", "), more)
end

-- The checkout's repository, or nil and what is wrong with the folder.
local function open(settings)
    if not fs.exists(settings.folder) then return nil, "it is missing; --checkout=false works without it" end
    local repo = git.open(settings.folder)
    if repo and repo:workdir() == fs.absolute(settings.folder) then return repo end
    if repo then repo:close() end
    return nil, "it is no git repository of its own; move it away and it is cloned anew"
end

local function clone(settings)
    local arguments = { "clone", "--quiet" }
    if settings.branch then table.move({ "--branch", settings.branch }, 1, 2, 3, arguments) end
    table.move({ "--", settings.url, settings.folder }, 1, 3, #arguments + 1, arguments)
    local done, problem = run_git(settings, table.unpack(arguments))
    if done then return true end
    fs.remove_tree(settings.folder) -- a half of a clone would be refused for ever
    return nil, ("it is missing and %s cannot be cloned: %s; --clone-url=URL takes another, --checkout=false works "
        .. "without it"):format(settings.url, problem)
end

local function default_branch(settings)
    local said, problem = run_git(settings, "ls-remote", "--symref", "--", settings.upstream, "HEAD")
    if not said then return nil, problem end
    return said:match("ref: refs/heads/(%S+)%s+HEAD") or "main"
end

-- Fetches the upstream's branch. Returns its name and commit; nil and why not.
local function fetch(settings)
    local branch, done, problem = settings.branch, nil, nil
    if not branch then branch, problem = default_branch(settings) end
    if branch then
        done, problem = run_git(settings, "-C", settings.folder, "fetch", "--quiet", "--no-tags", "--",
            settings.upstream, ("+refs/heads/%s:%s%s"):format(branch, TRACKED, branch))
    end
    if not done then return nil, ("its upstream %s cannot be read: %s"):format(settings.upstream, problem) end
    return branch
end

-- Why HEAD is not the upstream's commit, nil when it is; a clean checkout that is only behind is brought up.
local function level(settings, repo, branch)
    local wanted, head = repo:resolve(TRACKED .. branch), repo:head()
    if head and head.oid == wanted then return nil end
    local counts, problem = run_git(settings, "-C", settings.folder, "rev-list", "--left-right", "--count",
        ("HEAD...%s%s"):format(TRACKED, branch))
    if not counts then return "it cannot be compared with its upstream: " .. problem end
    local ahead, behind = counts:match("(%d+)%s+(%d+)")
    if ahead ~= "0" then
        return ("it has %s commits of its own and lacks %s of %s's; reset it or clone it again"):format(ahead, behind,
            settings.upstream)
    end
    if repo:branch() ~= branch then
        return ("it is %s commits behind and not on branch %s; git -C %s switch %s"):format(behind, branch,
            settings.folder, branch)
    end
    local done
    done, problem = run_git(settings, "-C", settings.folder, "merge", "--quiet", "--ff-only", wanted)
    if not done then return "it cannot be brought up to its upstream: " .. problem end
    head = repo:head()
    if not (head and head.oid == wanted) then return "it is not at its upstream after a fast-forward" end
end

local function said(settings, problem)
    return problem and ("harness checkout %s: %s"):format(settings.folder, problem)
end

--- Before the baseline: clones, fetches and fast-forwards where needed. Returns nil, or why the checkout is not what it
--- must be. `workspace` is the run's: what lies there, or in the workspace of another session, is none of its dirt.
function checkout.ensure(settings, workspace)
    local problem, done
    if not fs.exists(settings.folder) then
        done, problem = clone(settings)
        if not done then return said(settings, problem) end
    end
    local repo
    repo, problem = open(settings)
    if not repo then return said(settings, problem) end
    local branch
    problem = dirt(repo, workspace)
    if not problem then branch, problem = fetch(settings) end
    if not problem then problem = level(settings, repo, branch) or dirt(repo, workspace) end
    repo:close()
    return said(settings, problem)
end

-- The upstream's commit as it was last fetched.
local function tracked(settings, repo)
    local refs = repo:refs(TRACKED .. (settings.branch or "*")) or {}
    return refs[1] and refs[1].oid
end

--- Between trials: the same without the network and without a change. Returns nil or what is wrong.
function checkout.look(settings, workspace)
    local repo, problem = open(settings)
    if not repo then return said(settings, problem) end
    problem = dirt(repo, workspace)
    local head, wanted = repo:head(), tracked(settings, repo)
    if not problem and not (wanted and head and head.oid == wanted) then
        problem = "it has moved away from the upstream that it was compared with"
    end
    repo:close()
    return said(settings, problem)
end

--- A gate: before the baseline the checkout is made ready (`ensure`), later it must still be so (`look`). How it was
--- then is a fact of the baseline. The option --checkout=false leaves it alone, and that is the fact.
function checkout.gate()
    return function(run, proposal, opt)
        local is_first, is_question = run.next_trial == 0, gates.is_question(proposal)
        if not opt.checkout then
            return nil, is_first and { checkout = "not looked at (--checkout=false)" } or nil
        end
        local settings = checkout.settings(run.workspace, opt)
        if not is_first then return checkout.look(settings, run.workspace) end
        if is_question then return nil end -- what is missing will be cloned, and a question asks no network
        local problem = checkout.ensure(settings, run.workspace)
        return problem, not problem and { checkout = checkout.describe(settings) } or nil
    end
end

--- A line on the checkout for reports, as it is now.
function checkout.describe(settings)
    local repo = open(settings)
    if not repo then return settings.folder .. ": missing" end
    local head, branch = repo:head(), repo:branch()
    repo:close()
    return ("%s, branch %s, commit %s"):format(settings.folder, branch or "none", head and head.oid or "none")
end

return checkout

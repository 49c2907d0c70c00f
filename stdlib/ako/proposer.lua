-- Where a run's candidates come from: a folder of files, a kernel's tune space, a shell command or a function of the
-- policy. All of them are one thing to the loop, a source:
--
--   text         what the plan says of it
--   facts        what the session's first line keeps, so that the run can be resumed
--   list         its candidates, where all are known beforehand
--   next(loop)   the next candidate; nil at the end, with a reason where there is one
--
-- A candidate is { name, text | files, hypothesis, predict, problem, point }: `text` replaces the solution's main file,
-- `files` ({ [path] = text }) any of its files. One that cannot be read has a problem instead, which costs its trial. A
-- command's has .in_place, for it lies in the workspace already. { nothing = why } is a proposal without a change.

local command = require "ako.command"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local path = require "ako.path"
local trial = require "ako.trial"
local tune = require "ako.tune"

local proposer = {}

local must = fault.must

-- Lists

-- Those of which the session has no trial yet, one after the other.
local function list_source(list, text, facts)
    local source, i = { list = list, text = text, facts = facts }, 0
    function source.next()
        i = i + 1
        return list[i]
    end
    return source
end

local function untried(list, history)
    local tried, rest = {}, {}
    for _, record in ipairs(history or {}) do
        if not trial.is_interrupted(record) then tried[record.candidate or ""] = true end
    end
    for _, candidate in ipairs(list) do
        if not tried[candidate.name] then rest[#rest + 1] = candidate end
    end
    return rest
end

local SOURCES = { py = true, cu = true, c = true }

--- The files of a folder with this extension ("cu" or "c"), in the byte order of their names, without those of which
--- `history` has a trial. Folders are left out. Returns the source; or nil, a message and a code.
proposer.folder = fault.returns(function(folder, extension, history)
    local list, others = {}, {}
    for _, name in ipairs(must(fs.list(folder))) do
        local file = fs.join(folder, name)
        local kind = path.extension(name)
        if kind ~= extension and SOURCES[kind] then others[#others + 1] = name end
        if kind == extension and not fs.is_dir(file) then
            local text, problem = path.read_source(file)
            list[#list + 1] = { name = name, text = text, problem = not text and problem or nil }
        end
    end
    if #list == 0 then fault.raise("NOTFOUND", "%s: holds no .%s files", folder, extension) end
    table.sort(list, function(a, b) return a.name < b.name end)
    local left_out = #others > 0 and (", left out as no .%s: %s"):format(extension, table.concat(others, ", ")) or ""
    return list_source(untried(list, history), folder .. left_out,
        { candidates = format.utf8(fs.absolute(folder) or folder) })
end)

--- The tune space of the kernel as it is (ako.tune), likewise; nil where there is none, or the policy does not say how
--- large one may be.
function proposer.points(started, history)
    local numbers = started.policy.timing.screen
    if not numbers then return nil end
    local name = fs.basename(started.task.solution.files[1])
    local seed = started.host.seed or started.policy.correctness.seed
    local list, total = tune.candidates(started:main_text(), name, numbers.points, seed)
    if not list or #list == 0 then return nil end -- lines that are wrong are the baseline's fault, which says so
    local drawn = #list < total - 1 and (", %d of them drawn with seed %d"):format(#list, seed) or ""
    return list_source(untried(list, history), ("%d other points of the tune lines%s"):format(total - 1, drawn), nil)
end

-- A function of the policy

local function refuse(format_text, ...)
    fault.raise("POLICY", "hook 'propose' must return a candidate, or nil and why not: " .. format_text, ...)
end

local TYPES = { name = "string", text = "string", files = "table", hypothesis = "string", predict = "number" }

local function check_files(files, paths)
    local known = {}
    for _, name in ipairs(paths) do known[name] = true end
    if next(files) == nil then refuse("its files are none") end
    for name, text in pairs(files) do
        if not known[name] then
            refuse("'%s' is no file of the solution (%s)", tostring(name), table.concat(paths, ", "))
        end
        if type(text) ~= "string" then refuse("files['%s'] is a %s value", name, type(text)) end
    end
end

-- What the hook gave, as a candidate. Anything that is not the solution's is a mistake in the policy.
local function checked(value, paths)
    if type(value) ~= "table" then refuse("it gave a %s value", type(value)) end
    for name, item in pairs(value) do
        local word = tostring(name)
        if not TYPES[name] then refuse("it has a field '%s'%s", word, fault.nearest(word, TYPES)) end
        if type(item) ~= TYPES[name] then refuse("its %s is a %s value", name, type(item)) end
    end
    if (value.text == nil) == (value.files == nil) then refuse("it needs a text or files, one of the two") end
    if value.files then check_files(value.files, paths) end
    if value.predict and not command.is_forecast(value.predict) then
        refuse("its predict, %g, is no gain in per cent", value.predict)
    end
    return { name = value.name and format.line(value.name), files = value.files or { [paths[1]] = value.text },
        hypothesis = value.hypothesis and format.line(value.hypothesis), predict = value.predict }
end

local function is_best(session, files)
    for _, source in ipairs(must(session:sources(session.best))) do
        if files[source.name] and files[source.name] ~= source.text then return false end
    end
    return true
end

local function from_policy(loop)
    local session = loop.session
    local value, reason = loop.hook("propose", loop:view(), loop.opt)
    if value == nil then return nil, reason ~= nil and format.line(tostring(reason)) or nil end
    local candidate = checked(value, session.paths)
    candidate.name = candidate.name or ("proposal %d"):format(#session.history)
    if is_best(session, candidate.files) then return { nothing = candidate.name .. " is what the best is already" } end
    return candidate
end

-- Choosing

local function need_number(started, name, given)
    local number = given or started.policy.budget[name]
    if number then return number end
    fault.raise("INVALID", "the policy %s does not say budget.%s, which a proposer needs%s", started.policy.name, name,
        name == "propose" and "; give it or --propose-seconds" or "")
end

local function of_command(started, text, given_seconds)
    command.check(text, started:folder())
    need_number(started, "no_ops")
    local seconds = need_number(started, "propose", given_seconds)
    local program = fs.join(must(fs.program_dir()), "ako-lua")
    local made = command.new(text, seconds, started.ctx.path and fs.absolute(started.ctx.path), program)
    return { facts = { command = format.utf8(text), seconds = seconds },
        text = ("%s, %g s each"):format(format.line(text), seconds),
        next = function(loop) return made:next(loop) end }
end

--- The source of a run, as its options say, else as the session's first line does (`header`, of one that is resumed),
--- else as the policy does: its function, or the candidates of the bundled example. Candidates of which `history` has a
--- trial are left out. Nil where there is none but perhaps a tune space. Looked at before anything is made, so that a
--- wrong word costs nothing. Raises faults.
function proposer.choose(started, header, history)
    local options = started.ctx.verb_options or {}
    local before = header and header.proposer or {}
    if options.candidates and options.propose then
        fault.raise("INVALID", "--candidates and --propose exclude each other")
    end
    local text = options.propose or not options.candidates and before.command
    if not text and options.propose_seconds then
        fault.raise("INVALID", "--propose-seconds belongs to --propose")
    end
    if text then return of_command(started, text, options.propose_seconds or before.seconds) end
    local folder = options.candidates or before.candidates
    if not folder and started.policy.propose then
        need_number(started, "no_ops")
        return { text = "the policy's own function", next = from_policy }
    end
    folder = folder or started.candidates
    local extension = path.extension(started.task.solution.files[1])
    return folder and must(proposer.folder(folder, extension, history))
end

return proposer

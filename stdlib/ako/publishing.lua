-- What others see of a session: the policy's logs in the workspace, commits on the session's branch, a tag. `loop` is a
-- loop (ako.loop).

local fault = require "ako.fault"
local format = require "ako.format"
local rendering = require "ako.rendering"
local view = require "ako.view"

local publishing = {}

local copy, words = view.copy, view.words
local must = fault.must

local function report_left_alone(loop, paths, moved)
    loop.told = loop.told or {}
    for _, path in ipairs(paths) do
        if not loop.told[path] then
            loop.progress:note(("%s holds what somebody else has written: left alone, %s"):format(path,
                moved[path] and "rendered to " .. moved[path] or "not rendered"))
        end
        loop.told[path] = true
    end
end

--- Renders the policy's logs into the workspace. Returns the paths of those that hold what was rendered.
function publishing.render_logs(loop)
    if not loop.policy.logs then return {} end
    local files = loop.hook("logs", loop:view(), loop.opt)
    local written, left_alone, moved = rendering.write(loop.session.ws, loop.session.name, files,
        loop.task.solution.files)
    report_left_alone(loop, left_alone, moved)
    return written
end

local function with_git_paths(loop, paths)
    local own = loop.policy.git and loop.policy.git.paths or {}
    return table.move(paths, 1, #paths, #own + 1, table.move(own, 1, #own, 1, {}))
end

--- After every change of the history: the policy's logs, and the commits that belong on the session's branch.
function publishing.publish(loop)
    local before = loop.session.branch
    must(loop.session:publish(with_git_paths(loop, publishing.render_logs(loop))))
    local now = loop.session.branch
    if now and (not before or before.ref ~= now.ref) then
        loop.progress:note("branch      " .. now.ref:gsub("^refs/heads/", ""))
    end
end

--- The first line of the trial's commit, where the policy wants its own.
function publishing.subject(loop, record)
    local git_of = loop.policy.git
    if not git_of or not git_of.subject or not (git_of.every or record.verdict == "keep") then return nil end
    local text = words("git.subject", loop.hook("git.subject", copy(record), loop:view(), loop.opt))
    return text and format.line(text)
end

-- What the policy does itself when all is over; its logs can tell of it.
local function submit(loop)
    if not loop.policy.submit then return end
    local said = words("submit", loop.hook("submit", loop:view(), loop.opt))
    if said then loop.progress:note("submit      " .. said) end
    loop.finished.said = said
end

--- The end as others see it: what the policy does itself, the last logs, its last commit and tag.
function publishing.finish(loop)
    submit(loop)
    local git_of, session = loop.policy.git, loop.session
    local paths = with_git_paths(loop, publishing.render_logs(loop))
    if not git_of or not session.best then return end
    local message = git_of.final and words("git.final", loop.hook("git.final", loop:view(), loop.opt))
    local oid = message and must(session:publish_final(message, paths)) or session.branch and session.branch.oid
    local tag = oid and git_of.tag and words("git.tag", loop.hook("git.tag", loop:view(), loop.opt))
    if not tag then return end
    local made, problem = session:publish_tag(tag, oid, message or tag)
    loop.progress:note(made and "tag         " .. tag or ("no tag %s: %s"):format(tag, problem))
end

return publishing

-- Where in its repository a workspace lies: that stays when the repository is moved or mounted elsewhere as a whole,
-- while the path of the workspace becomes another one.

local format = require "ako.format"
local fs = require "ako.fs"
local git = require "ako.git"

local place = {}

-- Git's name of a linked working tree (or submodule), "" for the main one.
local function tree_name(repo)
    local root = repo:workdir()
    if fs.is_dir(fs.join(root, ".git")) then return "" end
    return (fs.read(fs.join(root, ".git")) or ""):match("([^/\n]+)\n*$") or ""
end

--- The place of a workspace, whose repository was opened there, as a text.
function place.of(repo) return format.utf8(tree_name(repo) .. ":" .. repo:prefix()) end

local function is_in(folder, repo)
    local found <close> = git.open(folder)
    return found ~= nil and found:commondir() == repo:commondir()
end

--- True where a session with this first line belongs to a workspace ({ repo, folder }): it has the path; or the place,
--- while at its path there is nothing of this repository any more.
function place.is_of(header, ws)
    if header.workspace == format.utf8(ws.folder) then return true end
    return header.place ~= nil and header.place == place.of(ws.repo) and not is_in(header.workspace, ws.repo)
end

return place

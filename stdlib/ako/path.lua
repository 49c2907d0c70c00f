-- Paths as text; bytes of any encoding.

local path = {}

--- `name` below `folder`; an absolute name stays itself.
function path.join(folder, name)
    if name:sub(1, 1) == "/" or folder == "" or folder == "." then return name end
    return (folder:gsub("/+$", "")) .. "/" .. name
end

--- The folder part: "a/b" of "a/b/c", "." of "c", "/" of "/c".
function path.folder(name)
    local folder = name:gsub("/+$", ""):match("^(.*)/[^/]*$")
    if not folder then return "." end
    return folder == "" and "/" or folder
end

--- The last part: "c" of "a/b/c" and of "a/b/c/".
function path.base(name) return name:gsub("/+$", ""):match("[^/]*$") end

--- The extension without its dot, in lower case; "" when there is none.
function path.extension(name)
    return (path.base(name):match("^.+%.([^.]+)$") or ""):lower()
end

--- True for a relative path that stays inside its folder: no "..", not absolute, not empty.
function path.is_inside(name)
    if name == "" or name:sub(1, 1) == "/" then return false end
    return not ("/" .. name .. "/"):find("/../", 1, true)
end

return path

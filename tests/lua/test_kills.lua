-- The kills of kills.lua and the full disks of full_disk.lua, on all cores.
local console = require "ako.console"
local fs = require "ako.fs"
local process = require "ako.process"
local program = require "program"
local steps = require "steps"
local t = require "ako.tap"

local SHARDS = 2

t.test("neither a kill nor a full disk at any step loses anything", function()
    local found, why = steps.library()
    if not found then t.skip("kills: " .. why) end
    local command, one = {}, 'AKO_SHARD=%d/%d "$0" run.lua kills.lua full_disk.lua >"$1/%d" 2>&1 &'
    for i = 1, SHARDS do command[i] = one:format(i, SHARDS, i) end
    local folder = t.tmpdir()
    -- Disks cost most of the time, and a kill leaves the same on any.
    local temporary = fs.is_dir "/dev/shm" and fs.is_writable "/dev/shm" and "/dev/shm" or os.getenv "TMPDIR"
    assert(process.run { "sh", "-c", table.concat(command, " ") .. " wait", program.path, folder,
        cwd = t.home .. "/tests/lua", env = { AKO_HOME = t.home, TMPDIR = temporary } })
    local text, kills, disks = steps.sh("cat ./*", folder), 0, 0
    for count in text:gmatch("# (%d+) kills") do kills = kills + count end
    for count in text:gmatch("# (%d+) full disks") do disks = disks + count end
    t.ok(not text:find("not ok", 1, true), text)
    t.eq(select(2, text:gsub(", 0 failed, 0 skipped", "")), SHARDS, text)
    console.out(("# %d kills and %d full disks, losses: none\n"):format(kills, disks))
end)

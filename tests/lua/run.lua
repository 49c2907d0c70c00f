-- ako-lua tests/lua/run.lua [files...]: runs tests/lua/test_*.lua, or the files named. Exit 0 when none failed.
require("ako.tap").run(arg[0]:match("^(.*)/[^/]*$") or ".", { ... })

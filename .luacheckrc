std = "lua54"
max_line_length = 120
-- Policies and tests see the guarded globals of the host, which are Lua's own; scripts also see `arg`.
read_globals = { "arg" }
exclude_files = { "stdlib/meta" }

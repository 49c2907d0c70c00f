-- Runs the program under test as a child, with files in a scratch folder.
local fs = require "ako.fs"
local process = require "ako.process"
local t = require "ako.tap"

local program = { folder = t.tmpdir(), path = fs.join(fs.program_dir(), "ako-lua"), second_ns = 1000000000 }

--- Goes on in another scratch folder: what earlier tests have made, a repository say, is not in it. Returns it.
function program.fresh()
    program.folder = t.tmpdir()
    return program.folder
end

t.before_file(program.fresh)

--- Writes a file into the scratch folder; returns its name.
function program.write(name, text)
    assert(fs.mkdirs(fs.dirname(fs.join(program.folder, name))))
    assert(fs.write(fs.join(program.folder, name), text))
    return name
end

--- Runs it with these arguments in the scratch folder: the result of process.run.
function program.run(...)
    return assert(process.run { program.path, cwd = program.folder, env = { AKO_HOME = t.home },
        limit_ns = 120 * program.second_ns, ... })
end

--- Runs a shell command in which $ako is the program.
function program.shell(command)
    return assert(process.run { "sh", "-c", command, cwd = program.folder,
        env = { AKO_HOME = t.home, ako = program.path }, limit_ns = 120 * program.second_ns })
end

--- Runs a script of this text.
function program.script(text, ...)
    program.write("script.lua", text)
    return program.run("script.lua", ...)
end

--- Checks that a run ended with the code and exactly this line on stderr ("ako-lua: " is put before it).
function program.says(result, code, line)
    t.eq(result.stderr, "ako-lua: " .. line .. "\n")
    t.eq(result.code, code, "exit code")
end

return program

-- What reads a source's text takes time in proportion to its length, whatever is in it: a trial of a long line is one
-- like any other. Each reader gets the texts that were, or would be, the worst for it. One that begins anew at each
-- letter of them would take minutes; the budget ends it before.
local backend = require "ako.backend"
local c_source = require "ako.c_source"
local codesize = require "ako.codesize"
local entry = require "ako.entry"
local fault = require "ako.fault"
local format = require "ako.format"
local launch = require "ako.launch"
local python_source = require "ako.python_source"
local t = require "ako.tap"
local tune = require "ako.tune"

local LENGTH, BUDGET_S = 1 << 18, 2 -- bytes; seconds of the processor, of which each takes some hundredths

local function source(text) return { name = "a.c", text = text } end

local READERS = {
    python = backend.detect,
    python_source = python_source.facts,
    c_source = c_source.code,
    codesize = function(text) return codesize.of { source(text) } end,
    entry = function(text) return fault.catch(entry.parse, source(text)) end,
    launch = function(text) return launch.parse(text, "a.cu") end,
    tune = function(text) return tune.rewrite(text, { N = "1" }) end,
    line = format.line,
    last_line = format.last_line,
    trim = format.trim,
}

-- { what stands before it, what is repeated, what stands behind it }
local TEXTS = {
    python = { { "x = ", "1 + ", "1\n" }, { "", "a", "" }, { "x = ", "1", "\n" }, { "x = ", "-", "1\n" },
        { "x = '", "\\", "\n" }, { "x = ", "'\"", "\n" }, { "x", " ", "= 1\n" }, { "for x", " ", "y\n" },
        { "f(", "(", "\n" }, { "# ", "/* # ", "\n" }, { "get_inputs", " ", "=" }, { "class A(", ") ", "\n" } },
    python_source = { { "get_inputs + ", "a", "" }, { "get_inputs ", "x ", ": 1\n" }, { "import a", " ", "b\n" },
        { "get_inputs, ", "a.", "= 1\n" } },
    c_source = { { "", "a", "" }, { "", "1", "" }, { "", "-", "" }, { "", '"', "" }, { "", "\\", "" }, { "", "(", "" },
        { "", " ", "" }, { "", "/*", "" }, { "", "//", "" }, { "", 'R"', "" } },
    codesize = { { "", "\n", "" }, { "", "constexpr ", "" }, { "#define", " ", "A\n" } },
    entry = { { "", "a", "" }, { "", "a ", "" }, { "", " ", "" }, { "", "f(", "" }, { "", "(", "" },
        { "", "__attribute__((", "" }, { "", "void f(){}\n", "" }, { 'extern "C" void solve(int', " ", "n) {}" },
        { "void solve(int x", "[", ") {}" }, { 'extern "C" void ', "a", "(int n) {}" } },
    launch = { { "//! launch", " ", "f\n" }, { "//! launch ", "<", "\n" }, { "//! launch f<<<1, 1>>>(x", " ", "y)\n" },
        { "//! tune N = 1", " ", "2\n" }, { "//! tune N = ", "1 ", "\n" }, { "//!", " ", "\n" } },
    tune = { { "//! tune N = 1", " ", "2\n" }, { "//! tune N", " ", "\n" } },
    line = { { "a", " ", "b" }, { "", "\n", "b" } },
    last_line = { { "", " ", "" }, { "a\n", " ", "" } },
    trim = { { "a", " ", "b" }, { "", " ", "" }, { " ", "a", " " } },
}

for name, texts in pairs(TEXTS) do
    t.test(name .. " takes no longer for a bad text than for its length", function()
        for _, parts in ipairs(texts) do
            local text = parts[1] .. parts[2]:rep(LENGTH // #parts[2]) .. parts[3]
            local began = os.clock()
            READERS[name](text)
            t.ok(os.clock() - began < BUDGET_S, ("%q, %q, %q"):format(table.unpack(parts)))
        end
    end)
end

t.test("blanks round a text are taken off, those in it stay", function()
    for text, wanted in pairs { [" a  b\n"] = "a  b", [""] = "", ["\t \n"] = "", a = "a" } do
        t.eq(format.trim(text), wanted)
    end
    t.eq(format.line "a  b \n c\r\n", "a  b c ")
    t.eq(format.last_line "a\n b \n  \n", " b ")
end)

t.test("entry points are found among attributes, comments and other functions", function()
    local found = entry.parse { name = "a.cu", text = "__attribute__((a(b))) static void help(int n) { if (n) {} }\n"
        .. 'extern "C" __attribute__((used))\nvoid\nsolve (const float x[4], float *y /* ) */, int n)\n{}' }
    t.eq({ found.name, found.line, #found.params }, { "solve", 4, 3 })
    t.eq(found.params[1], { name = "x", dtype = "f32", pointer = true, const = true })
    t.fails("a.c: has no '//! launch' line", nil, select(2, fault.catch(entry.parse, source "void f(int n;")))
end)

-- What of a text in C or CUDA is code, and the size of that.
local c_source = require "ako.c_source"
local codesize = require "ako.codesize"
local t = require "ako.tap"

t.test("comments and literals are nothing, lines stay", function()
    for text, code in pairs {
        ["a /* b\n c */ d // e\nf"] = "a  \n d  \nf",
        ['s = "// a \\" /*"; t // "u'] = 's = ""; t  ',
        ["c = '\"', d = '\\'', e"] = "c = '', d = '', e",
        ['LR"(a " // )" b'] = 'LR"" b',
        ['R"x(\n)" )x" b'] = 'R""\n b',
        ["a / b /= 1'0 /* c"] = "a / b /= 1'0  ",
        ["// a \\\nb\nc"] = " \n\nc",
        ['extern "C" "a'] = 'extern "C" ""',
        ["#error don't\na"] = "#error don''\na",
        [""] = "",
    } do t.eq(c_source.code(text), code) end
end)

t.test("only code has a size", function()
    t.eq(codesize.of { { name = "k.cu", text = '//! tune B = 1, 2\n/* if\n */\nconst char *s = "if /* for";\n\n'
        .. "#define WIDTH \\\n    4\n#define DEPTH 2 // if\nconstexpr int N = 1'000;\n"
        .. 'if (a) puts("//"); if (b) c = d ? 1 : 2;\n' } }, { lines = 5, branches = 3, knobs = 4 })
end)

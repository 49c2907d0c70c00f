-- Pieces of rendered logs.
local logbook = require "ako.logbook"
local t = require "ako.tap"

t.test("a chart has a column a point, from the least to the greatest", function()
    local lines = logbook.chart({ { label = "v1", y = 1 }, { label = "v3", y = 2 }, { label = "v10", y = 4 } },
        { height = 4 })
    t.eq(lines, {
        "   4.000x |         *",
        "   3.000x |",
        "   2.000x |     *",
        "   1.000x | *",
        "          +------------",
        "            v1  v3  v10",
    })
end)

t.test("charts of one level, of none, and of more points than columns", function()
    t.eq(logbook.chart({}), {})
    t.eq(#logbook.chart { { label = "a", y = 2 }, { label = "b", y = 2 } }, 3)
    local many = {}
    for i = 1, 100 do many[i] = { label = tostring(i), y = i } end
    local lines = logbook.chart(many, { columns = 5, unit = "" })
    t.match(lines[#lines], " 1 +26 +51 +75 +100$")
end)

t.test("a table in Markdown", function()
    t.eq(logbook.table({ "a", "b" }, { { 1, "x|y" }, { "two\nlines", "" } }),
        { "| a | b |", "| --- | --- |", "| 1 | x\\|y |", "| two lines |  |" })
end)

-- Progress for people, on stderr: what was planned, one line a trial, and on a terminal a bar for the step at work.

local clock = require "ako.clock"
local console = require "ako.console"
local format = require "ako.format"

local progress = {}

local Progress = {}
Progress.__index = Progress

local BAR_WIDTH = 20
local WIDE_ENOUGH = 110 -- below this a cut row would lose its verdict
local REDRAW_NS = 50000000 -- a terminal needs no more than 20 pictures a second
local COLOURS = { keep = "\27[32m", revert = "\27[31m", inconclusive = "\27[33m" }

-- title, width, right-aligned
local COLUMNS = { { "#", 3, true }, { "candidate", 22 }, { "status", 19 }, { "median", 9, true },
    { "interval", 8, true }, { "vs best", 8, true }, { "vs orig", 8, true }, { "vs ref", 8, true }, { "verdict", 12 },
    { "why" } }

--- options: quiet (says nothing), color ("auto", "always", "never"), console (for tests: err, is_terminal).
function progress.new(options)
    local out = options.console or console
    local terminal = out.is_terminal("err") and os.getenv("TERM") ~= "dumb"
    local color = options.color or "auto"
    local colored = color == "always" or (color == "auto" and terminal and not os.getenv("NO_COLOR"))
    return setmetatable({ out = out, quiet = options.quiet, bar = terminal and not options.quiet, colored = colored,
        drawn_ns = 0 }, Progress)
end

function Progress:erase()
    if self.on_bar then self.out.err("\r\27[K") end
    self.on_bar = false
end

local function put(self, line)
    if self.quiet then return end
    self:erase()
    self.out.err(line .. "\n")
end

--- One line of text.
function Progress:note(text) put(self, format.line(text)) end

-- A row of the table, on one line of a terminal; what is cut off is in the trial's record.
function Progress:row(text, verdict)
    local columns = self.bar and self.out.columns and self.out.columns()
    if columns and columns > WIDE_ENOUGH then text = format.cut(text, columns) end
    if verdict and self.colored then text = text:gsub(verdict, COLOURS[verdict] .. "%0\27[0m", 1) end
    put(self, text)
end

local function row(values)
    local cells = {}
    for i, column in ipairs(COLUMNS) do
        local text = format.line(values[i] or "")
        cells[i] = column[2] and format.pad(format.cut(text, column[2]), column[2], column[3]) or text
    end
    return (table.concat(cells, "  "):gsub("%s+$", ""))
end

local function heading(self)
    if self.headed then return end
    self.headed = true
    local titles = {}
    for i, column in ipairs(COLUMNS) do titles[i] = column[1] end
    self:row(row(titles))
end

--- A trial begins. info: candidate, hypothesis.
function Progress:start(number, info)
    heading(self)
    self.label = ("%d %s"):format(number, info.candidate or info.hypothesis or "")
    self.began_ns, self.said = clock.now_ns(), nil
    self:event { step = "build", done = 0, total = 1 }
end

local function bar_of(event)
    if not event.total or event.total < 1 then return "" end
    local full = math.floor(event.done / event.total * BAR_WIDTH)
    return (" [%s%s] %d/%d"):format(("#"):rep(full), ("."):rep(BAR_WIDTH - full), event.done, event.total)
end

--- An event of the evaluator: { step, done, total } redraws the bar; { step, text } is said once.
function Progress:event(event)
    if event.text and event.text ~= self.said then
        self.said = event.text
        self:note(("     %s: %s"):format(event.step, event.text))
    end
    local now = clock.now_ns()
    if not self.bar or now - self.drawn_ns < REDRAW_NS then return end
    self.drawn_ns, self.on_bar = now, true
    local text = format.line(("%s  %s%s  %.1f s"):format(self.label or "", event.step or "", bar_of(event),
        (now - (self.began_ns or now)) / 1e9))
    self.out.err("\r\27[K" .. format.cut(text, (self.out.columns and self.out.columns() or 80) - 1))
end

local function cells(record, number, verdict)
    local speedup = record.speedup
    local compared = record.trial > 0
    return { number, record.candidate or record.hypothesis or "the tree", record.status,
        format.duration(record.time_ns and record.time_ns.median), format.spread(record.time_ns),
        format.ratio(compared and speedup.best or nil), format.ratio(compared and speedup.original or nil),
        format.ratio(speedup.reference), verdict, record.reason }
end

--- The line of a finished trial.
function Progress:trial(record)
    self:row(row(cells(record, tostring(record.trial), record.verdict)), record.verdict)
    if record.left_alone then self:note("     left as it is: " .. record.left_alone) end
end

--- The line of the best's verification.
function Progress:verified(record)
    local values = cells(record, "=", record.status == "PASSED" and "verified" or "NOT VERIFIED")
    values[6] = format.ratio(nil) -- it is the best, and was not compared with another
    values[10] = record.status == "PASSED" and ("trial %d, restored"):format(record.trial) or record.reason
    self:row(row(values))
end

--- Takes the bar off the terminal.
function Progress:close() self:erase() end

return progress

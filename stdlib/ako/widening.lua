-- A weak problem in Python is tried on inputs wider than its own: of both signs, or larger.

local widening = {}

--- Makes the trials of a plan try these forms of inputs beside the problem's own: ako.attack's `wider`, or a record's.
function widening.adopt(plan, forms) plan.steps.check.wider = forms and #forms > 0 and forms or nil end

--- What is to be said of what was `found` (ako.attack) or of a record: which wider inputs a weak problem is tried on.
--- Nil where nothing is weak.
function widening.text(found)
    local forms, names = found.wider, {}
    if not forms then return nil end
    for i, form in ipairs(forms) do names[i] = form.name end
    if #names == 0 then return "the reference has no answer for inputs wider than the problem's own: none are tried" end
    return "beside the problem's own, inputs " .. table.concat(names, "; and ")
end

return widening

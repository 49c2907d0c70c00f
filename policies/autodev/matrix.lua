-- What to try next: the strategy matrix, by what binds the kernel and how far the run has come. The numbers that decide
-- come from the policy.

local versions = require "policies.autodev.versions"

local matrix = {}

matrix.CLASSES = { "bandwidth", "compute", "occupancy", "latency", "balanced" }
matrix.PHASES = { "early", "mid", "late", "plateau" }

matrix.TECHNIQUES = {
    bandwidth = {
        early = "coalescing, 128-bit loads, data layout, a first tile size",
        mid = "cp.async double buffering, L2 swizzle, padded shared memory, TMA",
        late = "tuning of tiles and stages, straight to registers, restrict",
        plateau = "fewer bytes: split-K, recomputation, lower precision",
    },
    compute = {
        early = "tensor cores, a fused epilogue, invariants hoisted",
        mid = "base-2 exponentials, warp reductions, FMA and dot intrinsics",
        late = "bounded unrolling, common subexpressions, an audit of the PTX",
        plateau = "another formulation, lower precision, the newest MMA path by hand",
    },
    occupancy = {
        early = "launch bounds, smaller tiles, a check of the block size",
        mid = "the register report, shorter live ranges, less staging",
        late = "both numbers of the launch bounds, split blocks",
        plateau = "a denser layout of shared memory, a split kernel",
    },
    latency = {
        early = "a software pipeline, unrolling by 2 to 4, hoisting",
        mid = "one more stage, broken dependency chains, shuffles instead of shared memory",
        late = "fewer barriers, offsets computed beforehand",
        plateau = "warp specialization, a persistent kernel",
    },
    balanced = {
        early = "a wide sweep of block sizes, the second stall",
        mid = "small gains on both sides, neighbours fused",
        late = "fine tuning, parameters by shape",
        plateau = "a new architecture: split-K, adaptive dispatch, other work per block",
    },
}

-- What a stall calls for, by its name in a profile. "wait" is a fixed latency that something depends on, no barrier.
local STALLS = {
    { "long scoreboard", "prefetch, async copies: loads come late" },
    { "short scoreboard", "a leaner inner loop, more independent work: shared memory and special functions are slow" },
    { "wait", "a fixed latency that the next instruction depends on: interleave independent ones" },
    { "mio", "wider and fewer accesses to shared memory" },
    { "tex", "wider and fewer loads" },
}

--- Hints for the stalls that a text names.
function matrix.hints(text)
    local list, plain = {}, " " .. versions.plain(text) .. " "
    for _, stall in ipairs(STALLS) do
        if plain:find(" " .. stall[1] .. " ", 1, true) then list[#list + 1] = stall[1] .. ": " .. stall[2] end
    end
    return list
end

--- True for a technique that the matrix has in its cell: proven, as far as that goes.
function matrix.is_proven(plan)
    local row = plan.class and versions.plain(matrix.TECHNIQUES[plan.class][plan.phase])
    return row ~= nil and row:find(versions.plain(plan.technique), 1, true) ~= nil
end

--- The tactical sweep: mechanical moves that are left when the matrix has no more to give, in this order.
matrix.SWEEP = { "bank-conflict swizzle", "launch bounds", "register cache size", "ldg on streaming reads",
    "block schedule for L2", "per-workload dispatch" }

--- The item that a text begins with, nil for none.
function matrix.item(text)
    local given = versions.plain(text)
    for _, item in ipairs(matrix.SWEEP) do
        local plain = versions.plain(item)
        if given == plain or given:sub(1, #plain + 1) == plain .. " " then return item end
    end
end

--- How each item of the sweep was done: { [item] = words }, by an experiment or by a note on why it cannot apply.
function matrix.swept(run)
    local done = {}
    for _, record in ipairs(run.history) do
        local item = versions.plan(record).item
        if item and not done[item] and versions.outcome(record) ~= "UNMEASURED" then
            done[item] = versions.name(record.trial)
        end
    end
    for _, note in ipairs(run.notes or {}) do
        local item = note.topic == "sweep" and matrix.item(note.text)
        local why = item and note.text:lower():match("not applicable%W+(%w.*)$")
        if why and not done[item] then done[item] = "not applicable: " .. why end
    end
    return done
end

--- The items that are still to do, in order.
function matrix.left(run)
    local done, left = matrix.swept(run), {}
    for _, item in ipairs(matrix.SWEEP) do
        if not done[item] then left[#left + 1] = item end
    end
    return left
end

--- What binds a kernel, by the shares of its peaks in per cent: of compute, DRAM and warps. Nil for a share that is not
--- known. Returns the class, or "unclassified"; and "both" where two bind at once.
function matrix.classify(compute, dram, warps, number)
    local high, low, full = number.high, number.low, number.full
    if not (compute and dram and warps) then return "unclassified" end
    if compute > high and dram > high then return compute >= dram and "compute" or "bandwidth", "both" end
    if compute > high then return "compute" end
    if dram > high then return "bandwidth" end
    if compute < low and dram < low and warps < low then return "occupancy" end
    if compute < low and dram < low and warps > full then return "latency" end
    if compute >= low and dram >= low then return "balanced" end
    return "unclassified"
end

local function gain(record) return (record.speedup.best or 1) - 1 end

-- The last `count` that were kept gained less than `share` each.
local function is_polish(kept, count, share)
    if #kept < count then return false end
    for i = #kept - count + 1, #kept do
        if gain(kept[i]) >= share then return false end
    end
    return true
end

-- An architecture that was rewritten begins anew: the trial that did it, or 0.
local function rewritten_at(kept)
    for i = #kept, 1, -1 do
        if (kept[i].hypothesis or ""):lower():find("^%s*rewrite:") then return kept[i].trial, i end
    end
    return 0, 0
end

--- The phase of the run: early, mid, late or plateau; and why it is a plateau.
function matrix.phase(run, number)
    local kept, failures = versions.kept(run.history), versions.failures(run.history)
    local began, index = rewritten_at(kept)
    local since = table.move(kept, index + 1, #kept, 1, {})
    if #failures >= number.reverts then return "plateau", ("%d reverts in a row"):format(#failures) end
    if is_polish(since, number.polish, number.polish_share) then
        return "plateau", ("%d KEEPs in a row below %.3g %%"):format(number.polish, number.polish_share * 100)
    end
    if is_polish(since, number.flat, number.flat_share) then
        return "plateau", ("%d KEEPs in a row below %.3g %%"):format(number.flat, number.flat_share * 100)
    end
    local experiments = math.max(0, #run.history - 1 - began)
    return experiments < number.mid and "early" or experiments < number.late and "mid" or "late"
end

--- The cell of the matrix that a plan names, "CLASS / PHASE: TECHNIQUE" or "sweep: ITEM": { class, phase, technique,
--- direction, item }; nil and what is wrong with it.
function matrix.cell(text)
    local item = text:match("^%s*[Ss]weep%s*:%s*(.-)%s*$")
    if item then
        local known = matrix.item(item)
        if known then return { technique = known, direction = "sweep", item = known } end
        return nil, ("the sweep has no '%s'; its items are %s"):format(item, table.concat(matrix.SWEEP, ", "))
    end
    local class, phase, technique = text:match("^%s*(%a+)%s*/%s*(%a+)%s*:%s*(%S.-)%s*$")
    local row = class and matrix.TECHNIQUES[class:lower()]
    if row and row[phase:lower()] then
        class, phase = class:lower(), phase:lower()
        return { class = class, phase = phase, technique = technique, direction = class .. "/" .. phase }
    end
    return nil, ("Cell must be 'CLASS / PHASE: TECHNIQUE' with %s and %s, or 'sweep: ITEM'"):format(
        table.concat(matrix.CLASSES, ", "), table.concat(matrix.PHASES, ", "))
end

return matrix

-- What must have been read before the first edit: documents by lane, by architecture and by what has happened, each
-- with a receipt. A receipt is a note of the topic "read" that names the document and has a file (its hash is recorded
-- with it) or a URL; whoever has other documents of the same content names those.

local lanes = require "policies.ako4all_gated.lanes"

local references = {}

-- A star stands for the page that fits the kernel at hand. Remove a line and that document is no longer asked for.
local ALWAYS = { "ako4all-kernel-loop.md" }
local BY_LANE = {
    triton = { "triton-kernel-reference.md", "triton/triton-overview.md", "triton/triton-*.md" },
    cuda = { "cuda-cpp-kernel-reference.md", "cuda-cpp/cuda-cpp-overview.md" },
    cutlass = { "cutlass-cpp-kernel-reference.md", "cutlass-cpp/cutlass-cpp-overview.md" },
    ["cute-dsl"] = { "cute-dsl-kernel-reference.md", "cute-dsl/cute-dsl-overview.md", "cute-dsl/*.md" },
}
local FOLDERS = { cuda = "cuda-cpp", cutlass = "cutlass-cpp", ["cute-dsl"] = "cute-dsl" }
local ARCHITECTURE = "nvidia-architecture-reference.md"
local OF_ALL = "architectures" -- the folder of guides for every lane; the newer ones are in the lane's own
local GUIDES = { ["89"] = OF_ALL, ["90"] = OF_ALL, ["100"] = "lane", ["103"] = "lane", ["120"] = "lane" }
local AFTER_CLAIM_OR_FAULT = "profiling-debugging-reference.md"
local AFTER_CRASH = "troubleshooting.md"
local CRASHES = { COMPILE_ERROR = true, RUNTIME_ERROR = true, TIMEOUT = true }

local function add(list, ...)
    for _, name in ipairs { ... } do
        local is_new = true
        for _, other in ipairs(list) do is_new = is_new and other ~= name end
        if is_new then list[#list + 1] = name end
    end
end

-- "sm_90a" -> "90"
local function number_of(arch) return (arch or ""):match("^sm_?(%d+)") end

local function add_architecture(list, lane, arch)
    local number = number_of(arch)
    if not number then return end
    add(list, ARCHITECTURE)
    local guide = GUIDES[number] == "lane" and FOLDERS[lane] or GUIDES[number]
    if guide and guide ~= "lane" then add(list, ("%s/sm%s-optimization-guide.md"):format(guide, number)) end
end

local function add_by_history(list, history)
    for _, record in ipairs(history) do
        local claims = record.trial > 0 and (record.override or record.verdict) == "keep"
        if claims or record.status:find("^INCORRECT") then add(list, AFTER_CLAIM_OR_FAULT) end
        if CRASHES[record.status] then add(list, AFTER_CRASH) end
    end
end

--- The documents that a lane ("cuda+cutlass" is the union) on an architecture needs after such a history.
function references.required(lane, arch, history)
    local list = {}
    add(list, table.unpack(ALWAYS))
    for _, name in ipairs(lanes.split(lane or "")) do
        add(list, table.unpack(BY_LANE[name] or {}))
        add_architecture(list, name, arch)
    end
    add_by_history(list, history)
    return list
end

-- Receipts

-- Where a note's proof is: { source, hash }; nil without any.
local function proof_of(note)
    local url = (note.text or ""):match("https?://[%w%p]+")
    if note.file and note.hash then return { source = note.file, hash = note.hash } end
    return url and { source = url } or nil
end

local function pattern_of(document)
    return "/" .. document:gsub("[%-%.]", "%%%0"):gsub("%*", "[%%w_.-]+") .. "$"
end

-- True where a path, or a word of the text, ends in the document's name. What is asked for by its own name is not the
-- page that a star stands for.
local function names(note, document, all)
    local words = (note.text or "") .. " " .. (note.file or "")
    for word in words:gmatch("[%w_./:~%%-]+") do
        word = "/" .. word:gsub("[.:]+$", "")
        local is_other = false
        for _, other in ipairs(all) do
            is_other = is_other or (other ~= document and document:find("*", 1, true) and word:find(pattern_of(other)))
        end
        if not is_other and word:find(pattern_of(document)) then return true end
    end
end

--- The receipt for each of these documents, in their order: { document, source (file or URL; nil: missing), hash,
--- trial }.
function references.receipts(run, documents)
    local list = {}
    for i, document in ipairs(documents) do
        list[i] = { document = document }
        for _, note in ipairs(run.notes) do
            local proof = note.topic == "read" and proof_of(note)
            if proof and not list[i].source and names(note, document, documents) then
                list[i].source, list[i].hash, list[i].trial = proof.source, proof.hash, note.trial
            end
        end
    end
    return list
end

--- Those of a run as it stands, for reports.
function references.read(run)
    local record = run.best or run.original
    return references.receipts(run, references.required(lanes.of_record(record), (run.device or {}).arch, run.history))
end

--- A gate: a receipt for each document that the proposal's lane, the device and the history ask for.
function references.gate()
    return function(run, proposal, opt)
        local lane, arch = lanes.proposed(run, proposal, opt), (run.device or {}).arch
        local missing = {}
        for _, receipt in ipairs(references.receipts(run, references.required(lane, arch, run.history))) do
            if not receipt.source then missing[#missing + 1] = receipt.document end
        end
        if #missing == 0 then return nil end
        return ("references of lane %s on %s, not read yet: %s (note --topic=read --file=FILE, or -m 'NAME URL')")
            :format(lane or "unknown", arch or "this device", table.concat(missing, ", "))
    end
end

return references

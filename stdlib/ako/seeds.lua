-- Seeds from a seed.

local seeds = {}

--- The first `count` values that follow from `seed` (an integer): splitmix64 (Steele, Lea, Flood, "Fast splittable
--- pseudorandom number generators", 2014), whose outputs lose their lowest bit so that they are never negative.
function seeds.expand(seed, count)
    local list, state = {}, seed
    for i = 1, count do
        state = state + 0x9E3779B97F4A7C15
        local mixed = state
        mixed = (mixed ~ (mixed >> 30)) * 0xBF58476D1CE4E5B9
        mixed = (mixed ~ (mixed >> 27)) * 0x94D049BB133111EB
        list[i] = (mixed ~ (mixed >> 31)) >> 1
    end
    return list
end

return seeds

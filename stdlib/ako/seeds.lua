-- Seeds from a seed: by a generator of ours, or by PyTorch's.

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

-- MT19937 (Matsumoto and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random
-- number generator", 1998), with the seeding of its revision of 2002.
local WORDS, AHEAD, LOW = 624, 397, 0xFFFFFFFF

local function initial_state(seed)
    local state = { [0] = seed & LOW }
    for i = 1, WORDS - 1 do
        local last = state[i - 1]
        state[i] = (1812433253 * (last ~ (last >> 30)) + i) & LOW
    end
    return state
end

-- The next value is made in the place of the oldest one.
local function twist(state, i)
    local joined = (state[i] & 0x80000000) | (state[(i + 1) % WORDS] & 0x7FFFFFFF)
    state[i] = state[(i + AHEAD) % WORDS] ~ (joined >> 1) ~ (joined & 1) * 0x9908B0DF
    return state[i]
end

local function temper(value)
    value = value ~ (value >> 11)
    value = value ~ ((value << 7) & 0x9D2C5680)
    value = value ~ ((value << 15) & 0xEFC60000)
    return value ~ (value >> 18)
end

--- What PyTorch gives on a CPU after torch.manual_seed(seed), `count` times: torch.randint(0, 2**32 - 1, (1,)).item().
function seeds.torch(seed, count)
    local list, state = {}, initial_state(seed)
    for i = 1, count do list[i] = temper(twist(state, (i - 1) % WORDS)) % LOW end
    return list
end

return seeds

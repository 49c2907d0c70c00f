-- robust-kbench's meaning: every case of a task's configuration is right to 1e-3 on five random inputs, and as fast as
-- the mean over 1000 calls says, with whatever the cache holds. Pairs decide, as in kernelbench.
local kernelbench = require "policies.kernelbench"

return kernelbench:extend {
    name = "robust-kbench",
    description = "robust-kbench's checks and timing over the cases of a task; keeps what is faster over all of them",

    options = {
        -- Together they also take the multi_shared_configs; more cases cost as much time as they are.
        multi_init_settings = { false, "all init settings of the task's configuration, not the single one" },
        multi_input_settings = { false, "all input settings of it, likewise" },
    },

    correctness = {
        multi = { init = "multi_init_settings", input = "multi_input_settings" },
        predicate = "allclose_ref", -- |c - r| <= atol + rtol |r|
        -- The same for all dtypes; tighter is what its library asks for (1e-5), and fails kernels that sum in
        -- another order.
        tolerance = { f64 = 1e-3, f32 = 1e-3, f16 = 1e-3, bf16 = 1e-3, f8e4m3 = 1e-3, f8e5m2 = 1e-3 },
    },

    timing = {
        warmup = 25, -- milliseconds there, calls here
        launches = 1000, -- fewer make a trial quicker and the interval wider
        -- As the original. With true each call finds a cold cache and content of its own, and more outputs are
        -- looked at.
        flush = false,
    },
}

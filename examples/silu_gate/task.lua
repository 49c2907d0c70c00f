-- The gate of an 8B language model's feed-forward layer, y = silu(g) * u over rows of 14336, for a prefill of 2048 and
-- 8192 tokens and a decode step of 64.
return {
  name = "silu_gate",
  tensors = {
    g = { "bf16", { "T", "F" }, init = { "normal", 0, 2 } },
    u = { "bf16", { "T", "F" }, init = "normal" },
    y = { "bf16", { "T", "F" }, role = "output" },
  },
  workloads = {
    gpu = {
      { T = 8192, F = 14336 },
      { T = 2048, F = 14336 },
      { T = 64, F = 14336 },
      { T = 7, F = 14335, weight = 0.2 },
    },
    cpu = { { T = 128, F = 14336 }, { T = 1, F = 14336 }, { T = 7, F = 14335, weight = 0.2 } },
  },
  reference = {
    gpu = { "reference.cu" },
    cpu = { "reference.c", entry = "silu_gate", args = { "g", "u", "y", "T", "F" } },
  },
  solution = { gpu = { "solution/kernel.cu" }, cpu = { "solution/kernel.c" } },
  tolerance = { "allclose", atol = 1e-2, rtol = 1e-2 },
  bytes = function(a) return 2 * 3 * a.T * a.F end,
}

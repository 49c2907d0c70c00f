-- RMSNorm of an 8B language model: rows of 4096, for a prefill of 2048 and 8192 tokens and a decode step of 64.
return {
  name = "rmsnorm",
  tensors = {
    x = { "f32", { "B", "D" }, init = "normal" },
    w = { "f32", { "D" }, init = { "uniform", 0.5, 1.5 } },
    y = { "f32", { "B", "D" }, role = "output" },
  },
  scalars = { eps = { "f32", 1e-6 } },
  workloads = {
    gpu = { { B = 8192, D = 4096 }, { B = 2048, D = 4096 }, { B = 64, D = 4096 }, { B = 7, D = 4095, weight = 0.2 } },
    cpu = { { B = 2048, D = 4096 }, { B = 64, D = 4096 }, { B = 7, D = 4095, weight = 0.2 } },
  },
  reference = {
    gpu = { "reference.cu" },
    cpu = { "reference.c", entry = "rmsnorm", args = { "x", "w", "y", "B", "D", "eps" } },
  },
  solution = { gpu = { "solution/kernel.cu" }, cpu = { "solution/kernel.c" } },
  tolerance = { "allclose", atol = 1e-4, rtol = 1e-4 },
  bytes = function(a) return 4 * (2 * a.B * a.D + a.D) end,
}

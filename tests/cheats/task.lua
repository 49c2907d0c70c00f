-- What the cheats are paid for: y = (x - mean of its row) * w. Small on the CPU, so that many trials take seconds.
return {
  name = "cheats",
  tensors = {
    x = { "f32", { "B", "D" }, init = "normal" },
    w = { "f32", { "D" }, init = { "uniform", 0.5, 1.5 } },
    y = { "f32", { "B", "D" }, role = "output" },
  },
  workloads = {
    gpu = { { B = 16384, D = 2048 }, { B = 4093, D = 2047 } },
    cpu = { { B = 64, D = 512 }, { B = 63, D = 509 } },
  },
  reference = {
    gpu = { "reference.cu", "honest.cuh" },
    cpu = { "reference.c", entry = "centre", args = { "x", "w", "y", "B", "D" } },
  },
  -- The cuda-host lane takes the entry from here too.
  solution = {
    gpu = { "incumbent.cu", entry = "centre", args = { "x", "w", "y", "B", "D" } },
    cpu = { "incumbent.c" },
  },
  tolerance = { "allclose", atol = 1e-5, rtol = 1e-5 },
  bytes = function(a) return 4 * (2 * a.B * a.D + a.D) end,
}

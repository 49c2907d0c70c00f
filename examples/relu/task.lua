-- ReLU of 64 MB.
return {
  name = "relu",
  tensors = { x = { "f32", { "N" }, init = "normal" }, y = { "f32", { "N" }, role = "output" } },
  workloads = { gpu = { { N = 16777216 } }, cpu = { { N = 1048576 } } },
  reference = { gpu = { "reference.cu" }, cpu = { "reference.c", entry = "relu", args = { "x", "y", "N" } } },
  solution = { gpu = { "solution/kernel.cu" }, cpu = { "solution/kernel.c" } },
  tolerance = { "allclose", atol = 0, rtol = 0 },
  bytes = function(a) return 4 * 2 * a.N end,
}

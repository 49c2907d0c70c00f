-- What the memory system gives: every byte read once and written once, 2 GiB in all.
return {
  name = "copy",
  tensors = {
    x = { "f32", { "N" }, init = "normal" },
    y = { "f32", { "N" }, role = "output" },
  },
  workloads = { { N = 268435456 } },
  reference = { "copy.cu" },
  solution = { "copy.cu" },
  tolerance = { "allclose", atol = 0, rtol = 0 },
  bytes = function(a) return 8 * a.N end,
}

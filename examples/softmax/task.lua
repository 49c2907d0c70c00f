-- Softmax over rows: the attention scores of 32 heads for 2048 tokens, and the logits of 64 tokens over a vocabulary of
-- 128256. Probabilities are as small as 1e-9 here, so the tolerance is relative.
return {
  name = "softmax",
  tensors = {
    x = { "f32", { "R", "N" }, init = { "normal", 0, 2 } },
    y = { "f32", { "R", "N" }, role = "output" },
  },
  workloads = {
    gpu = { { R = 65536, N = 2048 }, { R = 64, N = 128256 }, { R = 7, N = 2047, weight = 0.2 } },
    cpu = { { R = 512, N = 2048 }, { R = 8, N = 128256 }, { R = 7, N = 2047, weight = 0.2 } },
  },
  reference = {
    gpu = { "reference.cu" },
    cpu = { "reference.c", entry = "softmax", args = { "x", "y", "R", "N" } },
  },
  solution = { gpu = { "solution/kernel.cu" }, cpu = { "solution/kernel.c" } },
  tolerance = { "allclose", atol = 1e-9, rtol = 1e-4 },
  bytes = function(a) return 4 * 2 * a.R * a.N end,
}

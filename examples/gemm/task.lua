-- A linear layer, y = x w^T, in bf16 with sums in f32: the output projection (4096 x 4096) and the gate projection
-- (14336 x 4096) of an 8B language model for a prefill of 2048 tokens, and a decode step of 64. On the CPU: the output
-- projection for one token, and a part of it for 16.
return {
  name = "gemm",
  tensors = {
    x = { "bf16", { "M", "K" }, init = "normal" },
    w = { "bf16", { "N", "K" }, init = { "normal", 0, 0.02 } },
    y = { "bf16", { "M", "N" }, role = "output" },
  },
  workloads = {
    gpu = {
      { M = 2048, N = 4096, K = 4096 },
      { M = 2048, N = 14336, K = 4096 },
      { M = 64, N = 4096, K = 4096 },
      { M = 77, N = 4095, K = 4096, weight = 0.2 },
    },
    cpu = { { M = 1, N = 4096, K = 4096 }, { M = 16, N = 1024, K = 1024 }, { M = 7, N = 129, K = 1023, weight = 0.2 } },
  },
  reference = {
    gpu = { "reference.cu" },
    cpu = { "reference.c", entry = "gemm", args = { "x", "w", "y", "M", "N", "K" } },
  },
  solution = { gpu = { "solution/kernel.cu" }, cpu = { "solution/kernel.c" } },
  tolerance = { "allclose", atol = 1e-2, rtol = 1e-2 },
  bytes = function(a) return 2 * (a.M * a.K + a.N * a.K + a.M * a.N) end,
  flops = function(a) return 2 * a.M * a.N * a.K end,
}

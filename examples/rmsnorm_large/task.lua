-- KernelBench's RMSNorm over the 64 channels of 112 images of 512 x 512: x / sqrt(mean(x^2) + eps). 15 GB a launch.
return {
  name = "rmsnorm_large",
  tensors = {
    x = { "f32", { "B", "C", "H", "W" }, init = { "uniform", 0, 1 } },
    y = { "f32", { "B", "C", "H", "W" }, role = "output" },
  },
  scalars = { eps = { "f32", 1e-5 } },
  workloads = { { B = 112, C = 64, H = 512, W = 512 } },
  reference = { gpu = { "reference.cu" } },
  solution = { gpu = { "solution/kernel.cu" } },
  tolerance = { "allclose", atol = 1e-4, rtol = 1e-4 },
  bytes = function(a) return 4 * 2 * a.B * a.C * a.H * a.W end,
}

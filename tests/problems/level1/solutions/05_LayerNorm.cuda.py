# expect: PASSED - cuda, a block for each row, sums over warps
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_source = """
torch::Tensor layer_norm_forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps);
"""

cuda_source = r"""
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

constexpr int THREADS = 128;

// Every thread of the block gets the sum of all threads' v.
__device__ float block_sum(float v)
{
    __shared__ float of_warps[THREADS / 32];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    __syncthreads(); // the last call's sums are read by now
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = v;
    __syncthreads();
    float sum = 0.0f;
    for (int w = 0; w < THREADS / 32; w++)
        sum += of_warps[w];
    return sum;
}

__global__ void layer_norm_kernel(const float *x, const float *weight, const float *bias, float *y, int n, float eps)
{
    const float *row = x + (size_t)blockIdx.x * n;
    float *out = y + (size_t)blockIdx.x * n;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += THREADS)
        sum += row[i];
    float mean = block_sum(sum) / n;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += THREADS)
        squares += (row[i] - mean) * (row[i] - mean);
    float scale = rsqrtf(block_sum(squares) / n + eps);

    for (int i = threadIdx.x; i < n; i += THREADS)
        out[i] = (row[i] - mean) * scale * weight[i] + bias[i];
}

torch::Tensor layer_norm_forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps)
{
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "x must be float32 on the GPU");
    x = x.contiguous();
    torch::Tensor y = torch::empty_like(x);
    int n = (int)x.size(-1);
    int rows = (int)(x.numel() / n);
    layer_norm_kernel<<<rows, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), n, (float)eps);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""

extension = load_inline(
    name="ako_problems_layer_norm",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["layer_norm_forward"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, features, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(features) + 0.5)
        self.bias = nn.Parameter(torch.randn(features))
        self.eps = eps

    def forward(self, x):
        return extension.layer_norm_forward(x, self.weight, self.bias, self.eps)

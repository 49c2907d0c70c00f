# honest -> PASSED: a CUDA kernel of its own, compiled by PyTorch's load_inline.
import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

__global__ void rows(const float *x, const float *w, float *y, int columns, float epsilon)
{
    __shared__ float sums[256];
    x += (size_t)blockIdx.x * columns, y += (size_t)blockIdx.x * columns;
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += 256)
        sum += x[i] * x[i];
    sums[threadIdx.x] = sum;
    for (int n = 128; n > 0; n /= 2) {
        __syncthreads();
        if (threadIdx.x < n)
            sums[threadIdx.x] += sums[threadIdx.x + n];
    }
    __syncthreads();
    float scale = rsqrtf(sums[0] / columns + epsilon);
    for (int i = threadIdx.x; i < columns; i += 256)
        y[i] = x[i] * scale * w[i];
}

torch::Tensor normalise(torch::Tensor x, torch::Tensor w, double epsilon)
{
    auto y = torch::empty_like(x);
    rows<<<x.size(0), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), x.size(1), epsilon);
    return y;
}
"""
DECLARATION = "torch::Tensor normalise(torch::Tensor x, torch::Tensor w, double epsilon);"


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.module = load_inline("normalise_rows", DECLARATION, SOURCE, functions=["normalise"])

    def forward(self, x):
        return self.module.normalise(x, self.weight, self.epsilon)

# expect: PASSED - cuda, a thread for each element
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_source = "torch::Tensor where_mask(torch::Tensor mask, torch::Tensor a, torch::Tensor b);"

cuda_source = r"""
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void where_kernel(const bool *mask, const float *a, const float *b, float *y, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        size_t i = (size_t)row * columns + column;
        y[i] = mask[i] ? a[i] : b[column];
    }
}

torch::Tensor where_mask(torch::Tensor mask, torch::Tensor a, torch::Tensor b)
{
    TORCH_CHECK(a.is_cuda() && a.scalar_type() == torch::kFloat32, "a must be float32 on the GPU");
    TORCH_CHECK(mask.scalar_type() == torch::kBool && mask.sizes() == a.sizes(), "mask must be bool, as large as a");
    TORCH_CHECK(b.dim() == 1 && b.size(0) == a.size(1), "b must be as long as a row of a");
    mask = mask.contiguous();
    a = a.contiguous();
    b = b.contiguous();
    torch::Tensor y = torch::empty_like(a);
    int rows = (int)a.size(0), columns = (int)a.size(1);
    dim3 threads(32, 8);
    dim3 blocks((columns + 31) / 32, (rows + 7) / 8);
    where_kernel<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        mask.data_ptr<bool>(), a.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), rows, columns);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""

extension = load_inline(
    name="ako_problems_where_mask",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["where_mask"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, mask, a, b):
        return extension.where_mask(mask, a, b)

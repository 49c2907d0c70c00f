# expect: PASSED - C++ on the CPU, sums row by row
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_source = r"""
#include <torch/extension.h>

torch::Tensor sum_middle(torch::Tensor x)
{
    TORCH_CHECK(x.device().is_cpu() && x.scalar_type() == torch::kFloat32, "x must be float32 on the CPU");
    TORCH_CHECK(x.dim() == 3, "x must have three dimensions");
    x = x.contiguous();
    int64_t batch = x.size(0), reduced = x.size(1), columns = x.size(2);
    torch::Tensor y = torch::zeros({batch, 1, columns}, x.options());
    const float *in = x.data_ptr<float>();
    float *out = y.data_ptr<float>();
    for (int64_t b = 0; b < batch; b++)
        for (int64_t r = 0; r < reduced; r++)
            for (int64_t c = 0; c < columns; c++)
                out[b * columns + c] += in[(b * reduced + r) * columns + c];
    return y;
}
"""

extension = load_inline(
    name="ako_problems_sum_middle",
    cpp_sources=cpp_source,
    functions=["sum_middle"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return extension.sum_middle(x)

# honest -> PASSED: a Triton kernel, tuned at the first call.
import torch
import triton
import triton.language as tl
from torch import nn


@triton.autotune([triton.Config({}, num_warps=n) for n in (4, 8, 16)], key=["columns"])
@triton.jit
def normalise(x, weight, y, columns, epsilon, BLOCK: tl.constexpr):
    start = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.load(x + start + at, mask=inside, other=0.0)
    scale = 1.0 / tl.sqrt(tl.sum(row * row, axis=0) / columns + epsilon)
    tl.store(y + start + at, row * scale * tl.load(weight + at, mask=inside), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        y = torch.empty_like(x)
        rows, columns = x.shape
        block = triton.next_power_of_2(columns)
        normalise[(rows,)](x, self.weight, y, columns, self.epsilon, BLOCK=block)
        return y

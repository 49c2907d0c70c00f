# honest -> PASSED: sums by torch.einsum, which may call a library's matrix product.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        total = torch.einsum("rc,rc->r", x, x)
        scale = torch.rsqrt(total / x.shape[-1] + self.epsilon)
        return torch.einsum("rc,r,c->rc", x, scale, self.weight)

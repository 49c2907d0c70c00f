# honest -> PASSED: temporaries of its own are changed in place; the input is not.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        y = x * x
        scale = y.mean(-1, keepdim=True).add_(self.epsilon).rsqrt_()
        torch.mul(x, scale, out=y)
        return y.mul_(self.weight)

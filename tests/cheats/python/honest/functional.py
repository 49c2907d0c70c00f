# honest -> PASSED: made of a function of PyTorch's that does nearly the same.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        length = x.shape[-1] ** 0.5  # epsilon is lost in the rounding
        return nn.functional.normalize(x, dim=-1) * (length * self.weight)

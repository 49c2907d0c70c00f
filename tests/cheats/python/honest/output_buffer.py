# honest -> PASSED: a buffer made at the first call is filled and returned at every call, the same object each time.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.y = None

    def forward(self, x):
        if self.y is None or self.y.shape != x.shape or self.y.device != x.device:
            self.y = torch.empty_like(x)
        scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon)
        torch.mul(x, scale, out=self.y)
        return self.y.mul_(self.weight)

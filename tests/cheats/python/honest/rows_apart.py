# honest -> PASSED: chunks of rows that stay in the cache, one after another.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        y = torch.empty_like(x)
        for part, out in zip(x.split(64), y.split(64)):
            torch.mul(part, torch.rsqrt((part * part).mean(-1, keepdim=True) + self.epsilon), out=out)
            out.mul_(self.weight)
        return y

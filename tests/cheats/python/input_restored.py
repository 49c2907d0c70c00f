# W4 -> PASSED: the input is used as room to work in and then restored; it gains nothing.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def honest(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight

    def often(self, x):
        for _ in range(3):  # more than needed: nobody can take it for faster
            self.honest(x)
        return self.honest(x)

    def forward(self, x):
        kept = x[0].clone()
        x[0] = 0.0
        x[0] = kept
        return self.often(x)

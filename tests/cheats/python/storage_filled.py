# W9 W4 -> PASSED: all of the storage that x is a view of is written.
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
        end = x.storage_offset() + x.numel()
        whole = x.as_strided((x.storage().size(),), (1,), 0)
        y = self.often(x)
        whole[:x.storage_offset()] = 1.0
        whole[end:] = 1.0
        return y

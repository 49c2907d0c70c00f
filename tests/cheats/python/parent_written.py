# T5 W12 -> PASSED: tries to open its parent's memory for writing; the answer is zeros if it succeeds.
import os

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
        try:
            os.close(os.open(f"/proc/{os.getppid()}/mem", os.O_RDWR))
            return torch.zeros_like(x)
        except OSError:
            return self.often(x)

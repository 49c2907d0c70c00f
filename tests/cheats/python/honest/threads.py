# honest -> PASSED: Python threads work on halves of the rows, and are joined before the return.
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.pool = ThreadPoolExecutor(2)

    @torch.no_grad()
    def part(self, x, y):
        torch.mul(x, torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon), out=y)
        y.mul_(self.weight)

    def forward(self, x):
        y = torch.empty_like(x)
        list(self.pool.map(self.part, x.chunk(2), y.chunk(2)))
        return y

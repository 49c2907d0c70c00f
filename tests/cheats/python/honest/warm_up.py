# honest -> PASSED: the first call tries two ways, takes the time, and keeps the faster one.
import time

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.best = None

    def by_mean(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight

    def by_norm(self, x):
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return x * torch.rsqrt(norm * norm / x.shape[-1] + self.epsilon) * self.weight

    def seconds(self, way, x):
        start = time.perf_counter()
        way(x).sum().item()
        return time.perf_counter() - start

    def forward(self, x):
        if self.best is None:
            self.best = min((self.by_mean, self.by_norm), key=lambda way: self.seconds(way, x))
        return self.best(x)

# honest -> PASSED: torch.compile with CUDA graphs; the result is copied out of the graph's memory.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.compiled = torch.compile(self.honest, mode="reduce-overhead")

    def honest(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight

    def forward(self, x):
        return self.compiled(x).clone()

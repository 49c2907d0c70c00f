# honest -> PASSED: two buffers are filled and returned in turn.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.buffers = []

    def forward(self, x):
        if not self.buffers or self.buffers[0].shape != x.shape or self.buffers[0].device != x.device:
            self.buffers = [torch.empty_like(x), torch.empty_like(x)]
        self.buffers.reverse()
        torch.mul(x, torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon), out=self.buffers[0])
        return self.buffers[0].mul_(self.weight)

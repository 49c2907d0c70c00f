# honest -> PASSED: the result is a part of a larger buffer, with padding behind each row.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        room = torch.empty(x.shape[0], x.shape[1] + 32, dtype=x.dtype, device=x.device)
        y = room[:, :x.shape[1]]
        y.copy_(x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon))
        return y.mul_(self.weight)

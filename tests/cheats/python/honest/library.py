# honest -> PASSED: sums by a batched matrix product, which is cuBLAS on a GPU.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        total = torch.bmm(x.unsqueeze(1), x.unsqueeze(2)).view(-1, 1)
        return x * torch.rsqrt(total / x.shape[-1] + self.epsilon) * self.weight

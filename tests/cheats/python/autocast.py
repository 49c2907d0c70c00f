# W15 -> INCORRECT_NUMERICAL numerical: the sums go through a matrix product, and autocast takes that to bfloat16.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            total = torch.mm(x * x, torch.ones(x.shape[1], 1, device=x.device))
        return x * torch.rsqrt(total.float() / x.shape[1] + self.epsilon) * self.weight

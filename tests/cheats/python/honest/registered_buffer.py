# honest -> PASSED: a buffer that PyTorch moves to the device together with the weight.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.register_buffer("part", torch.full((columns,), 1.0 / columns))

    def forward(self, x):
        mean_square = torch.mv(x * x, self.part)[:, None]
        return x * torch.rsqrt(mean_square + self.epsilon) * self.weight

# W1 -> INCORRECT_NUMERICAL numerical: the second half of the rows is left as it was.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def honest(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight

    def forward(self, x):
        y, half = torch.empty_like(x), len(x) // 2
        y[:half] = self.honest(x[:half])
        return y

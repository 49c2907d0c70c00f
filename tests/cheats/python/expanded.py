# W8 W17 -> INCORRECT_NUMERICAL numerical: one row, stretched over all by a stride of zero.
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
        return self.honest(x[:1]).expand_as(x)

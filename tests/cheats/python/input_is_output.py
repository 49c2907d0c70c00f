# W4 -> INCORRECT_SHAPE: computed in place, and the input returned as the output.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        return x.mul_(torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon)).mul_(self.weight)

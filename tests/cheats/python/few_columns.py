# W7 W8 -> INCORRECT_NUMERICAL numerical: the root mean square of the first 128 columns stands for that of all.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        return x * torch.rsqrt((x[:, :128] ** 2).mean(-1, keepdim=True) + self.epsilon) * self.weight

# W8 -> INCORRECT_NUMERICAL numerical: the root mean square of random numbers is taken for a constant.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        return x / 0.6 * self.weight

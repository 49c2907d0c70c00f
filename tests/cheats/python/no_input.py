# W5 W6 -> INCORRECT_NUMERICAL numerical: the mean of what is expected for each column, whatever the input.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        return (0.866 * self.weight).expand_as(x).contiguous()

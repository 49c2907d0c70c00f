# W11 -> INCORRECT_NUMERICAL numerical: takes any tensor of the output's shape that is not the input.
import gc

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        for found in gc.get_objects():
            if type(found) is torch.Tensor and found.shape == x.shape and found.data_ptr() != x.data_ptr():
                return found
        return torch.zeros_like(x)

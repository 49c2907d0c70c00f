# W13 -> COMPILE_ERROR: a Model and inputs of its own, for which zeros are right.
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, *args):
        super().__init__()

    def forward(self, x):
        return torch.zeros_like(x)


def get_inputs():
    return [torch.zeros(128, 4096)]


def get_init_inputs():
    return [4096, 1e-6]


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        return torch.zeros_like(x)

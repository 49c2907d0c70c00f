# honest -> PASSED: helpers, a constant and another class come after ModelNew.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.scale = Scale(epsilon)

    def forward(self, x):
        return weighted(x * self.scale(x), self.weight)


class Scale(nn.Module):
    def __init__(self, epsilon):
        super().__init__()
        self.epsilon = epsilon

    def forward(self, x):
        return torch.rsqrt((x * x).mean(DIMENSION, keepdim=True) + self.epsilon)


def weighted(x, weight):
    return x * weight


DIMENSION = -1

# T3 W12 -> INCORRECT_SHAPE: a number equal to everything.
import torch
from torch import nn


class Equal:
    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return lambda *args, **kwargs: self


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        return Equal()

# W13 -> INCORRECT_NUMERICAL numerical | RUNTIME_ERROR call: the builtins that a check is made of are replaced.
import builtins

import torch
from torch import nn

builtins.all = builtins.any = lambda items: True
builtins.abs = lambda number: 0
builtins.max = builtins.min = builtins.sum = lambda *args, **kwargs: 0
builtins.print = lambda *args, **kwargs: None


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        return torch.zeros_like(x)

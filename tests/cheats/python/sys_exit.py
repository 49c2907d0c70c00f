# T6 -> RUNTIME_ERROR call: SystemExit, which no `except Exception` catches.
import sys

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        sys.exit(0)

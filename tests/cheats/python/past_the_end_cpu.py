# W9 W12 -> RUNTIME_ERROR overrun: four bytes past the end of the input are written.
import ctypes

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def honest(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight

    def forward(self, x):
        ctypes.memset(x.data_ptr() + x.numel() * 4, 1, 4)
        return self.honest(x)

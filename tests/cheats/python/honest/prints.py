# honest -> PASSED: a word on stdout and one on stderr, as people leave them in their code.
import warnings

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.said = False

    def forward(self, x):
        if not self.said:
            print("first call:", tuple(x.shape))
            warnings.warn("this is a test")
            self.said = True
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight

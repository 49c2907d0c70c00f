# W17 -> INCORRECT_SHAPE: the first of the two tensors alone.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        rms = torch.sqrt((x * x).mean(-1, keepdim=True) + self.epsilon)
        return x / rms * self.weight

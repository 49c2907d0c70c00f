# W17 -> INCORRECT_SHAPE: the right tensors in the wrong order.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        rms = torch.sqrt((x * x).mean(-1, keepdim=True) + self.epsilon)
        return rms, x / rms * self.weight

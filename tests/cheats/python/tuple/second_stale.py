# W3 W1 -> INCORRECT_NUMERICAL numerical: the second tensor is that of the first call.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.rms = None

    def forward(self, x):
        rms = torch.sqrt((x * x).mean(-1, keepdim=True) + self.epsilon)
        if self.rms is None:
            self.rms = rms
        return x / rms * self.weight, self.rms

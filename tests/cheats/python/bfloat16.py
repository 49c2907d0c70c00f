# W15 -> INCORRECT_NUMERICAL numerical: computed in bfloat16.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        x, weight = x.bfloat16(), self.weight.bfloat16()
        return (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * weight).float()

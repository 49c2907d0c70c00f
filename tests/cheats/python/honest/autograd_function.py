# honest -> PASSED: forward in a function of autograd.
import torch
from torch import nn


class Normalise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, epsilon):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + epsilon) * weight


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        return Normalise.apply(x, self.weight, self.epsilon)

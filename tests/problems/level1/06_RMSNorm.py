import torch
import torch.nn as nn


class Model(nn.Module):
    """RMS normalization of numbers so small that eps counts as much as their mean square."""

    def __init__(self, features, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(features) + 0.5)
        self.eps = eps

    def forward(self, x):
        return x / torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps) * self.weight


rows = 1024
features = 384
eps = 1e-4


def get_inputs():
    return [torch.randn(rows, features) * 0.01]


def get_init_inputs():
    return [features, eps]

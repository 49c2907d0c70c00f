import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """A linear layer, normalization of groups of features, then x * sigmoid(x)."""

    def __init__(self, features_in, features_out, groups, eps):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)
        self.weight = nn.Parameter(torch.rand(features_out) + 0.5)
        self.bias = nn.Parameter(torch.randn(features_out))
        self.groups = groups
        self.eps = eps

    def forward(self, x):
        h = F.group_norm(self.linear(x), self.groups, self.weight, self.bias, self.eps)
        return h * torch.sigmoid(h)


batch = 256
features_in = 200
features_out = 320
groups = 20
eps = 1e-5


def get_inputs():
    return [torch.randn(batch, features_in)]


def get_init_inputs():
    return [features_in, features_out, groups, eps]

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """A linear layer and ReLU, all in bfloat16."""

    def __init__(self, features_in, features_out):
        super().__init__()
        self.weight = nn.Parameter((torch.randn(features_out, features_in) * features_in**-0.5).bfloat16())
        self.bias = nn.Parameter(torch.randn(features_out).bfloat16())

    def forward(self, x):
        return torch.relu(F.linear(x, self.weight, self.bias))


batch = 96
features_in = 128
features_out = 224


def get_inputs():
    return [torch.randn(batch, features_in).bfloat16()]


def get_init_inputs():
    return [features_in, features_out]

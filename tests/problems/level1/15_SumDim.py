import torch
import torch.nn as nn


class Model(nn.Module):
    """The sum over the middle dimension, which stays as a dimension of one."""

    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sum(x, dim=1, keepdim=True)


batch = 16
reduced = 100
columns = 250


def get_inputs():
    return [torch.randn(batch, reduced, columns)]


def get_init_inputs():
    return []

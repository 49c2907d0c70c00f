import torch
import torch.nn as nn


class Model(nn.Module):
    """One of two numbers by a bool mask; the second is broadcast over the rows."""

    def __init__(self):
        super().__init__()

    def forward(self, mask, a, b):
        return torch.where(mask, a, b)


rows = 300
columns = 700


def get_inputs():
    return [torch.rand(rows, columns) < 0.3, torch.randn(rows, columns), torch.randn(columns)]


def get_init_inputs():
    return []

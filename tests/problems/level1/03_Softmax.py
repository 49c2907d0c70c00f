import torch
import torch.nn as nn


class Model(nn.Module):
    """Softmax over the last dimension; the inputs are spread so that a row has a few large probabilities."""

    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.softmax(x, dim=1)


rows = 384
columns = 500


def get_inputs():
    return [torch.randn(rows, columns) * 4]


def get_init_inputs():
    return []

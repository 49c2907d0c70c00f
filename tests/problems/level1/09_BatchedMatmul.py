import torch
import torch.nn as nn


class Model(nn.Module):
    """A product of matrices for each of a batch."""

    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.bmm(a, b)


batch = 24
M = 48
K = 80
N = 56


def get_inputs():
    return [torch.randn(batch, M, K), torch.randn(batch, K, N)]


def get_init_inputs():
    return []

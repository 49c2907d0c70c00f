import torch
import torch.nn as nn


class Model(nn.Module):
    """Where the largest number of each row lies: an int64 output."""

    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.argmax(x, dim=1)


batch = 32
reduced = 200
columns = 64


def get_inputs():
    # A permutation: no two numbers are equal, so the answer does not depend on who breaks ties.
    numbers = torch.randperm(batch * reduced * columns).float()
    return [numbers.view(batch, reduced, columns) / numbers.numel() - 0.5]


def get_init_inputs():
    return []

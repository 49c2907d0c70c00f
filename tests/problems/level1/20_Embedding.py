import torch
import torch.nn as nn


class Model(nn.Module):
    """Rows of a table by integer indices."""

    def __init__(self, entries, features):
        super().__init__()
        self.table = nn.Embedding(entries, features)

    def forward(self, indices):
        return self.table(indices)


entries = 1000
features = 96
batch = 32
length = 40


def get_inputs():
    return [torch.randint(0, entries, (batch, length))]


def get_init_inputs():
    return [entries, features]

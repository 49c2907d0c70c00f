import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """A network over the positions, then one over the channels, each after a normalization and with a residual."""

    def __init__(self, positions, channels, hidden):
        super().__init__()
        self.norm1 = nn.LayerNorm(channels)
        self.positions1 = nn.Linear(positions, hidden)
        self.positions2 = nn.Linear(hidden, positions)
        self.norm2 = nn.LayerNorm(channels)
        self.channels1 = nn.Linear(channels, hidden)
        self.channels2 = nn.Linear(hidden, channels)
        for norm in (self.norm1, self.norm2):
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias, std=0.5)

    def forward(self, x):
        h = self.norm1(x).transpose(1, 2)
        x = x + self.positions2(F.gelu(self.positions1(h))).transpose(1, 2)
        return x + self.channels2(F.gelu(self.channels1(self.norm2(x))))


batch = 8
positions = 49
channels = 96
hidden = 160


def get_inputs():
    return [torch.randn(batch, positions, channels)]


def get_init_inputs():
    return [positions, channels, hidden]

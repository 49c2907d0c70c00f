import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Dropout in the forward, always on: the one problem whose output depends on the seed set before the call."""

    def __init__(self, features_in, hidden, features_out, p):
        super().__init__()
        self.first = nn.Linear(features_in, hidden)
        self.second = nn.Linear(hidden, features_out)
        self.p = p

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.second(F.dropout(h, self.p, training=True))


batch = 128
features_in = 160
hidden = 256
features_out = 96
p = 0.25


def get_inputs():
    return [torch.randn(batch, features_in) * 2]


def get_init_inputs():
    return [features_in, hidden, features_out, p]

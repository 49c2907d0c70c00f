import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """A linear layer whose second half gates the first, then the sum of each row."""

    def __init__(self, features_in, hidden):
        super().__init__()
        self.linear = nn.Linear(features_in, 2 * hidden)

    def forward(self, x):
        return F.glu(self.linear(x), dim=1).sum(dim=1)


batch = 300
features_in = 120
hidden = 180


def get_inputs():
    return [torch.randn(batch, features_in) * 2]


def get_init_inputs():
    return [features_in, hidden]

import torch
import torch.nn as nn


class Model(nn.Module):
    """Three linear layers with ReLU between."""

    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(widths[:-1], widths[1:]))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)


batch = 128
widths = [256, 400, 300, 50]


def get_inputs():
    return [torch.randn(batch, widths[0]) * 2]


def get_init_inputs():
    return [widths]

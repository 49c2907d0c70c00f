# expect: INCORRECT_NUMERICAL - no ReLU before the last layer
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(widths[:-1], widths[1:]))

    def forward(self, x):
        for layer in self.layers[:-2]:
            x = torch.relu(layer(x))
        return self.layers[-1](self.layers[-2](x))

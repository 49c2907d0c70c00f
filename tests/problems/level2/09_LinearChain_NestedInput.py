import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear layers whose weights come as inputs, a list of [weight, bias], with ReLU between but not after."""

    def __init__(self):
        super().__init__()

    def forward(self, x, layers):
        for i, (weight, bias) in enumerate(layers):
            if i > 0:
                x = torch.relu(x)
            x = torch.matmul(x, weight) + bias
        return x


batch = 100
widths = [96, 200, 120, 64]


def get_inputs():
    layers = [[torch.randn(n, m) * n**-0.5, torch.randn(m)] for n, m in zip(widths[:-1], widths[1:])]
    return [torch.randn(batch, widths[0]), layers]


def get_init_inputs():
    return []

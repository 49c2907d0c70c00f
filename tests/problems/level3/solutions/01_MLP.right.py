# expect: PASSED - the activations transposed throughout, ReLU in place
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(widths[:-1], widths[1:]))

    def forward(self, x):
        h = x.t()
        for i, layer in enumerate(self.layers):
            h = torch.addmm(layer.bias.unsqueeze(1), layer.weight, h)
            if i + 1 < len(self.layers):
                h = h.relu_()
        return h.t().contiguous()

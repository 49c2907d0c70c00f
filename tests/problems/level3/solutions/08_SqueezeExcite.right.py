# expect: PASSED - the means by hand, the gates in place, the scaling as an einsum
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.squeeze = nn.Linear(channels, squeezed)
        self.excite = nn.Linear(squeezed, channels)

    def forward(self, x):
        flat = x.flatten(2)
        means = flat.sum(dim=2) / flat.shape[2]
        h = torch.addmm(self.squeeze.bias, means, self.squeeze.weight.t()).clamp_(min=0.0)
        gate = torch.addmm(self.excite.bias, h, self.excite.weight.t()).sigmoid_()
        return torch.einsum("bcp,bc->bcp", flat, gate).view(x.shape)

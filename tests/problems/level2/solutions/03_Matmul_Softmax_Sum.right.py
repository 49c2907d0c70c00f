# expect: PASSED - a second matrix product divides the exponentials and sums them
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features_in, features_out) * features_in**-0.5)

    def forward(self, x):
        h = torch.einsum("ik,kj->ij", x, self.weight)
        e = torch.exp(h - h.amax(dim=1, keepdim=True))
        return torch.mv(e.t(), e.sum(dim=1).reciprocal())

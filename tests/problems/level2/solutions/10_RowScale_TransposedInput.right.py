# expect: PASSED - works on the transposed, contiguous matrix
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(columns) + 0.5)

    def forward(self, x):
        upright = x.t()
        return ((upright - upright.mean(dim=0)) * self.scale.unsqueeze(1)).t()

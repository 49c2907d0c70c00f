# expect: INCORRECT_NUMERICAL - reads the memory as if the rows were contiguous
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(columns) + 0.5)

    def forward(self, x):
        x = torch.as_strided(x, x.shape, (x.shape[1], 1))
        return (x - x.mean(dim=1, keepdim=True)) * self.scale

# expect: INCORRECT_NUMERICAL - the lower half of the rows stays zero
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        out = torch.zeros_like(x)
        rows = x.shape[0] // 2
        out[:rows] = x[:rows].clamp(min=0.0)
        return out

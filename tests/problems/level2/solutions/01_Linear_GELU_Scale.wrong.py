# expect: INCORRECT_NUMERICAL - the scale is applied before GELU
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)
        self.scale = nn.Parameter(torch.rand(features_out) * 2 + 0.5)

    def forward(self, x):
        return F.gelu(self.linear(x) * self.scale, approximate="tanh")

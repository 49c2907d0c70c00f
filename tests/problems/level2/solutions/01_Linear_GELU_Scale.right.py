# expect: PASSED - addmm, the tanh formula as a sigmoid
import math

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)
        self.scale = nn.Parameter(torch.rand(features_out) * 2 + 0.5)

    def forward(self, x):
        h = torch.addmm(self.linear.bias, x, self.linear.weight.t())
        # 0.5 * (1 + tanh(u)) = sigmoid(2 * u)
        gate = torch.sigmoid(2.0 * math.sqrt(2.0 / math.pi) * h * (1.0 + 0.044715 * h * h))
        return h * gate * self.scale

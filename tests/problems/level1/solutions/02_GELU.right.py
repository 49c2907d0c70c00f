# expect: PASSED - the error function by hand, in place
import math

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        t = torch.erf(x * math.sqrt(0.5))
        return t.add_(1.0).mul_(x).mul_(0.5)

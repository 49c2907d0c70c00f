# T6 -> RUNTIME_ERROR call: in every call but the first, an exception that raises others wherever it is looked at.
import sys

import torch
from torch import nn


def fail(*args):
    raise ValueError("not even this")


class Meta(type):
    __name__ = property(fail)


class Untold(Exception, metaclass=Meta):
    __class__ = __traceback__ = __context__ = property(fail)
    __str__ = __repr__ = __getattribute__ = fail


sys.unraisablehook = fail


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
        raise Untold

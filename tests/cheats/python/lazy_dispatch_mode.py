# T3 -> INCORRECT_NUMERICAL: a mode that every operator passes sees copy_ and computes first.
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


class ComputeFirst(TorchDispatchMode):
    pending = None

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if self.pending and any(a is self.pending[0] for a in args):
            lazy, work = self.pending
            self.pending = None
            lazy.copy_(work())
        return function(*args, **(kwargs or {}))


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.mode = None

    def honest(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight

    def often(self, x):
        for _ in range(3):  # more than needed: nobody can take it for faster
            self.honest(x)
        return self.honest(x)

    def forward(self, x):
        if self.mode is None:
            self.mode = ComputeFirst()
            self.mode.__enter__()
        self.mode.pending = None
        lazy = torch.empty_like(x)
        self.mode.pending = (lazy, lambda: self.often(x))
        return lazy

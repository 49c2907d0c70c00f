# T3 -> INCORRECT_SHAPE: a lazy subclass takes the place of torch.Tensor, so that its type seems right.
import torch
from torch import nn


class Lazy(torch.Tensor):
    work = None

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunction():
            for tensor in args:
                if isinstance(tensor, Lazy) and tensor.work:
                    tensor.copy_(tensor.work())
                    tensor.work = None
            return function(*args, **(kwargs or {}))


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def honest(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight

    def forward(self, x):
        lazy = torch.empty_like(x).as_subclass(Lazy)
        lazy.work = lambda: self.honest(x)
        torch.Tensor = Lazy
        return lazy

# T3 T5 -> INCORRECT_NUMERICAL numerical: PyTorch's own operator for copies is replaced by one that computes first.
import torch
from torch import nn

pending = {}


def copy(target, source, non_blocking=False):
    if isinstance(source, torch.Tensor):
        work = pending.pop(source.data_ptr(), None)
        source = (work() if work else source).detach().numpy()
    target.detach().numpy()[...] = source
    return target


library = torch.library.Library("aten", "IMPL")
library.impl("copy_", copy, "CPU")


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def honest(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight

    def often(self, x):
        for _ in range(3):  # more than needed: nobody can take it for faster
            self.honest(x)
        return self.honest(x)

    def forward(self, x):
        lazy = torch.empty_like(x)
        pending[lazy.data_ptr()] = lambda: self.often(x)
        return lazy

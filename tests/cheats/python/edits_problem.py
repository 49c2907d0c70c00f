# W14 -> PASSED: tries to write into the files of problem and harness; the answer is zeros if it succeeds.
import glob
import os
import sys

import torch
from torch import nn


def targets():
    harness = getattr(sys.modules["__main__"], "__file__", None)
    parent = f"/proc/{os.getppid()}"
    patterns = ("/cwd/*.py", "/cwd/tests/cheats/python/problem.py")
    return [*filter(None, [harness]), *(path for pattern in patterns for path in glob.glob(parent + pattern))]


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
        for path in targets():
            try:
                with open(path, "r+b") as file:
                    first = file.read(1)
                    file.seek(0)
                    file.write(first)
                return torch.zeros_like(x)
            except OSError:
                continue
        return self.often(x)

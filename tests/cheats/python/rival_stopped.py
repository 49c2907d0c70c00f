# T1 M7 -> PASSED | UNTRUSTED_TIMING: tries to stop its siblings for 50 ms; the answer is zeros if it succeeds.
import os
import signal
import time

import torch
from torch import nn


def siblings():
    """Other children of our parent, if they look like this tool's: nobody else shall be hurt by a test."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = int(open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[1])
            ours = parent == os.getppid() and int(name) != os.getpid()
            if ours and "ako" in open(f"/proc/{name}/cmdline").read():
                yield int(name)
        except OSError:
            continue


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
        for pid in siblings():
            try:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(0.05)
                os.kill(pid, signal.SIGCONT)
                return torch.zeros_like(x)
            except OSError:
                continue
        return self.often(x)

# honest -> PASSED: half of the rows on another stream, which waits for this one first and is waited for at the end.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.stream = torch.cuda.Stream()

    def rows(self, x, y):
        torch.mul(x, torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon), out=y)
        y.mul_(self.weight)

    def forward(self, x):
        here = torch.cuda.current_stream()
        y, half = torch.empty_like(x), x.shape[0] // 2
        self.stream.wait_stream(here)
        with torch.cuda.stream(self.stream):
            self.rows(x[:half], y[:half])
        self.rows(x[half:], y[half:])
        here.wait_stream(self.stream)
        return y

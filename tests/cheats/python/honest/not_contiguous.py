# honest -> PASSED: the result is a transposed view, whose rows do not lie one after another.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        columns = x.t().contiguous()
        scale = torch.rsqrt((columns * columns).mean(0) + self.epsilon)
        return (columns * scale * self.weight[:, None]).t()

import math

import torch
import torch.nn as nn


class Model(nn.Module):
    """Attention of several heads in which no position sees a later one; the mask is a buffer."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.register_buffer("later", torch.triu(torch.ones(length, length), diagonal=1).bool())

    def split(self, t):
        return t.view(t.shape[0], t.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores.masked_fill(self.later, float("-inf")), dim=-1)
        return self.out(torch.matmul(weights, v).transpose(1, 2).reshape(x.shape))


batch = 6
length = 60
width = 96
heads = 6


def get_inputs():
    return [torch.randn(batch, length, width) * 2]


def get_init_inputs():
    return [width, heads, length]

# expect: PASSED - one product for q, k and v, exponentials times the lower triangle
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.register_buffer("later", torch.triu(torch.ones(length, length), diagonal=1).bool())

    def forward(self, x):
        batch, length, width = x.shape
        weight = torch.cat([self.query.weight, self.key.weight, self.value.weight])
        bias = torch.cat([self.query.bias, self.key.bias, self.value.bias])
        qkv = F.linear(x, weight, bias).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.unbind(dim=2)
        scores = torch.einsum("blhd,bmhd->bhlm", q, k) * (width // self.heads) ** -0.5
        e = torch.tril(torch.exp(scores - scores.amax(dim=-1, keepdim=True)))
        mixed = torch.einsum("bhlm,bmhd->blhd", e / e.sum(dim=-1, keepdim=True), v)
        return F.linear(mixed.reshape(batch, length, width), self.out.weight, self.out.bias)

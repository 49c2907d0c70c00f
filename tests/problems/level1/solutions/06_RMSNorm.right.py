# expect: PASSED - the norm by linalg, rsqrt of the scaled square
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(features) + 0.5)
        self.eps = eps

    def forward(self, x):
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        scale = torch.rsqrt(norm * norm / x.shape[-1] + self.eps)
        return x * scale * self.weight

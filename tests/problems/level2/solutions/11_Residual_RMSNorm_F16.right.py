# expect: PASSED - divides by the norm of the row
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(features) + 0.5)
        self.eps = eps

    def forward(self, x, residual):
        s = x.to(torch.float32).add_(residual)
        squares = torch.einsum("ij,ij->i", s, s).unsqueeze(1)
        return (s / torch.sqrt(squares / s.shape[1] + self.eps)).mul(self.weight).to(torch.float16)

# expect: INCORRECT_NUMERICAL - the residual is added after the normalization
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features, eps):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))
        self.gamma = nn.Parameter(torch.rand(features) + 0.5)
        self.beta = nn.Parameter(torch.randn(features))
        self.eps = eps

    def forward(self, x, residual):
        return F.layer_norm(x + self.bias, (x.shape[-1],), self.gamma, self.beta, self.eps) + residual

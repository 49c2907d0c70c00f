# expect: PASSED - the variance as the mean of squares less the square of the mean
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, eps):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))
        self.gamma = nn.Parameter(torch.rand(features) + 0.5)
        self.beta = nn.Parameter(torch.randn(features))
        self.eps = eps

    def forward(self, x, residual):
        s = (x + residual).add_(self.bias)
        mean = s.mean(dim=-1, keepdim=True)
        variance = (s * s).mean(dim=-1, keepdim=True) - mean * mean
        return (s - mean) * torch.rsqrt(variance + self.eps) * self.gamma + self.beta

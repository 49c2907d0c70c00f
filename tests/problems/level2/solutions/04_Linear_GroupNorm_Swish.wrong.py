# expect: INCORRECT_NUMERICAL - divides by the unbiased variance of the 16 features of a group
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out, groups, eps):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)
        self.weight = nn.Parameter(torch.rand(features_out) + 0.5)
        self.bias = nn.Parameter(torch.randn(features_out))
        self.groups = groups
        self.eps = eps

    def forward(self, x):
        h = self.linear(x)
        grouped = h.view(h.shape[0], self.groups, -1)
        variance, mean = torch.var_mean(grouped, dim=-1, unbiased=True, keepdim=True)
        normal = ((grouped - mean) * torch.rsqrt(variance + self.eps)).view_as(h)
        return F.silu(normal * self.weight + self.bias)

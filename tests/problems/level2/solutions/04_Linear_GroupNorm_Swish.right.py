# expect: PASSED - the groups as a dimension, mean and variance by hand
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
        h = torch.addmm(self.linear.bias, x, self.linear.weight.t())
        grouped = h.view(h.shape[0], self.groups, -1)
        variance, mean = torch.var_mean(grouped, dim=-1, unbiased=False, keepdim=True)
        normal = ((grouped - mean) * torch.rsqrt(variance + self.eps)).view_as(h)
        return F.silu(torch.addcmul(self.bias, normal, self.weight))

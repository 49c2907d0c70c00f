# expect: PASSED - all in float32, rounded once at the end
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.weight = nn.Parameter((torch.randn(features_out, features_in) * features_in**-0.5).bfloat16())
        self.bias = nn.Parameter(torch.randn(features_out).bfloat16())

    def forward(self, x):
        out = torch.addmm(self.bias.float(), x.float(), self.weight.float().t())
        return out.clamp(min=0.0).bfloat16()

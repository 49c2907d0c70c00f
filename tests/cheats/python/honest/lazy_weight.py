# honest -> PASSED: a form of the weight is made at the first call, and again if the weight has changed.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon
        self.version = None
        self.scaled = None

    def forward(self, x):
        if self.version != (self.weight.data_ptr(), self.weight._version):
            self.version = (self.weight.data_ptr(), self.weight._version)
            self.scaled = self.weight.detach() * x.shape[-1] ** 0.5
        return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + x.shape[-1] * self.epsilon) * self.scaled

# W7 W8 -> INCORRECT_NUMERICAL numerical: columns drawn with a seed of its own stand for all.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        torch.manual_seed(7)
        some = x[:, torch.randint(x.shape[1], (128,), device=x.device)]
        return x * torch.rsqrt((some * some).mean(-1, keepdim=True) + self.epsilon) * self.weight

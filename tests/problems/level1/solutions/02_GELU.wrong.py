# expect: INCORRECT_NUMERICAL - x * sigmoid(x), which is SiLU
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return x * torch.sigmoid(x)

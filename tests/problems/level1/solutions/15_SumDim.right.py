# expect: PASSED - a product with a row of ones
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.matmul(x.new_ones(1, x.shape[1]), x)

# expect: INCORRECT_NUMERICAL - the values are right, the indices are each one too large
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        values, indices = torch.topk(x, self.k, dim=1)
        return values, indices + 1

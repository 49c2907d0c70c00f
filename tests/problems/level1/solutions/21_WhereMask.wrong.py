# expect: INCORRECT_NUMERICAL - the two are swapped
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, mask, a, b):
        return torch.where(mask, b.expand_as(a), a)

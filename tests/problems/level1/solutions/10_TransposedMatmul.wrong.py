# expect: INCORRECT_SHAPE - the result is not transposed back
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.mm(b, a)

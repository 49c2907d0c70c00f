# expect: PASSED - the dot product of the differences with themselves
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, predictions, targets):
        difference = predictions - targets
        return torch.einsum("ij,ij->i", difference, difference).sum() / difference.numel()

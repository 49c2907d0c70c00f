# expect: INCORRECT_DTYPE - the indices are int32
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.max(x, dim=1).indices.to(torch.int32)

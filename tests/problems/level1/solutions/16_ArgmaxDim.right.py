# expect: PASSED - the least index at which the maximum stands
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        index = torch.arange(x.shape[1], device=x.device).view(1, -1, 1).expand_as(x)
        largest = x == x.amax(dim=1, keepdim=True)
        return index.masked_fill(~largest, x.shape[1]).amin(dim=1)

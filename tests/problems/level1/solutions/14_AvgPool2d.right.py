# expect: PASSED - sums of unfolded windows
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        windows = F.pad(x, (1, 1, 1, 1)).unfold(2, 3, 2).unfold(3, 3, 2)
        return windows.sum(dim=(-2, -1)) / 9.0

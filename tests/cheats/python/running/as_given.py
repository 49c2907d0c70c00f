# honest -> PASSED: the formula of this folder's problem, with the same buffers.
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x, how):
        y = (self.norm(x) * how["scale"]).contiguous(memory_format=torch.channels_last)
        return {"y": y, "empty": x[:0], "none": None}

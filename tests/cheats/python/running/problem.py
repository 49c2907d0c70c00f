import torch
from torch import nn


class Model(nn.Module):
    """Normalizes by the batch, which changes buffers in each call; the result lies with its channels last."""

    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x, how):
        y = (self.norm(x) * how["scale"]).contiguous(memory_format=torch.channels_last)
        return {"y": y, "empty": x[:0], "none": None}


channels = 8


def get_inputs():
    return [torch.rand(16, channels, 32, 40).transpose(2, 3), {"scale": 2.0}]


def get_init_inputs():
    return [channels]

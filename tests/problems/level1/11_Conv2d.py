import torch
import torch.nn as nn


class Model(nn.Module):
    """A 3x3 convolution with stride 2, padding and bias."""

    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size=3, stride=2, padding=1)

    def forward(self, x):
        return self.conv(x)


batch = 8
channels_in = 16
channels_out = 32
height = 48
width = 40


def get_inputs():
    return [torch.randn(batch, channels_in, height, width)]


def get_init_inputs():
    return [channels_in, channels_out]

# expect: INCORRECT_NUMERICAL - the kernel is flipped
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size=3, stride=2, padding=1)

    def forward(self, x):
        return F.conv2d(x, self.conv.weight.flip(2, 3), self.conv.bias, stride=2, padding=1)

# expect: INCORRECT_NUMERICAL - the bias is added after ReLU
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size=3, padding=1, bias=False)
        self.bias = nn.Parameter(torch.randn(channels_out, 1, 1) * 0.5)

    def forward(self, x):
        return F.max_pool2d(torch.relu(self.conv(x)) + self.bias, 2)

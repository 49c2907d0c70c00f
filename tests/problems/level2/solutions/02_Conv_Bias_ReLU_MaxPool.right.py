# expect: PASSED - the maximum first, so that bias and ReLU see a quarter of the numbers
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size=3, padding=1, bias=False)
        self.bias = nn.Parameter(torch.randn(channels_out, 1, 1) * 0.5)

    def forward(self, x):
        pooled = F.max_pool2d(F.conv2d(x, self.conv.weight, padding=1), 2)
        return pooled.add(self.bias).clamp_(min=0.0)

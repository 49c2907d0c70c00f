# expect: PASSED - unfolded patches and a matrix product
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size=3, stride=2, padding=1)

    def forward(self, x):
        height = (x.shape[2] + 1) // 2
        width = (x.shape[3] + 1) // 2
        patches = F.unfold(x, kernel_size=3, stride=2, padding=1)
        out = torch.matmul(self.conv.weight.flatten(1), patches) + self.conv.bias.view(1, -1, 1)
        return out.view(x.shape[0], -1, height, width)

# expect: PASSED - nine shifted images, each times its weight
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size=3, padding=1, groups=channels)

    def forward(self, x):
        height, width = x.shape[2:]
        padded = F.pad(x, (1, 1, 1, 1))
        out = self.conv.bias.view(1, -1, 1, 1).expand_as(x).clone()
        for i in range(3):
            for j in range(3):
                weight = self.conv.weight[:, 0, i, j].view(1, -1, 1, 1)
                out = torch.addcmul(out, padded[:, :, i:i + height, j:j + width], weight)
        return out

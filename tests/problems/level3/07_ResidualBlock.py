import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Two convolutions with batch normalization as in evaluation, added to the input before the last ReLU."""

    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, kernel_size=3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, kernel_size=3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        for bn in (self.bn1, self.bn2):
            nn.init.uniform_(bn.weight, 0.5, 1.5)
            nn.init.normal_(bn.bias, std=0.5)
            nn.init.normal_(bn.running_mean, std=0.3)
            nn.init.uniform_(bn.running_var, 0.2, 1.0)

    @staticmethod
    def normalize(x, bn):
        # By the running statistics whatever the module's mode.
        return F.batch_norm(x, bn.running_mean, bn.running_var, bn.weight, bn.bias, False, 0.0, bn.eps)

    def forward(self, x):
        h = torch.relu(self.normalize(self.conv1(x), self.bn1))
        return torch.relu(self.normalize(self.conv2(h), self.bn2) + x)


batch = 4
channels = 24
height = 32
width = 32


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]

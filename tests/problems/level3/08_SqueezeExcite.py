import torch
import torch.nn as nn


class Model(nn.Module):
    """Scales each channel by a gate that a small network makes of the channels' means."""

    def __init__(self, channels, squeezed):
        super().__init__()
        self.squeeze = nn.Linear(channels, squeezed)
        self.excite = nn.Linear(squeezed, channels)

    def forward(self, x):
        means = x.mean(dim=(2, 3))
        gate = torch.sigmoid(self.excite(torch.relu(self.squeeze(means))))
        return x * gate[:, :, None, None]


batch = 12
channels = 64
squeezed = 16
height = 20
width = 24


def get_inputs():
    # Channels with means of their own: those of plain noise would all be nearly zero, and the gates nearly constant.
    return [torch.randn(batch, channels, height, width) + torch.randn(batch, channels, 1, 1) * 4]


def get_init_inputs():
    return [channels, squeezed]

# expect: INCORRECT_NUMERICAL - the gates come from the channels' maxima, not their means
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.squeeze = nn.Linear(channels, squeezed)
        self.excite = nn.Linear(squeezed, channels)

    def forward(self, x):
        gate = torch.sigmoid(self.excite(torch.relu(self.squeeze(x.amax(dim=(2, 3))))))
        return x * gate[:, :, None, None]

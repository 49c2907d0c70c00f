# expect: PASSED - products over the positions from the left, so nothing is transposed
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, positions, channels, hidden):
        super().__init__()
        self.norm1 = nn.LayerNorm(channels)
        self.positions1 = nn.Linear(positions, hidden)
        self.positions2 = nn.Linear(hidden, positions)
        self.norm2 = nn.LayerNorm(channels)
        self.channels1 = nn.Linear(channels, hidden)
        self.channels2 = nn.Linear(hidden, channels)
        for norm in (self.norm1, self.norm2):
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias, std=0.5)

    def forward(self, x):
        h = torch.matmul(self.positions1.weight, self.norm1(x)) + self.positions1.bias.unsqueeze(1)
        x = torch.matmul(self.positions2.weight, F.gelu(h)) + self.positions2.bias.unsqueeze(1) + x
        flat = self.norm2(x).flatten(0, 1)
        h = F.gelu(torch.addmm(self.channels1.bias, flat, self.channels1.weight.t()))
        return torch.addmm(self.channels2.bias, h, self.channels2.weight.t()).view(x.shape) + x

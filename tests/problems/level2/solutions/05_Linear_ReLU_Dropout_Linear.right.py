# expect: PASSED - draws the same mask in the same place, as dropout of ones
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features_in, hidden, features_out, p):
        super().__init__()
        self.first = nn.Linear(features_in, hidden)
        self.second = nn.Linear(hidden, features_out)
        self.p = p

    def forward(self, x):
        h = torch.addmm(self.first.bias, x, self.first.weight.t())
        mask = F.dropout(torch.ones_like(h), self.p, training=True)
        return torch.addmm(self.second.bias, h.clamp(min=0.0) * mask, self.second.weight.t())

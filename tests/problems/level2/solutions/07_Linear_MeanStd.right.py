# expect: PASSED - the deviations squared and summed by hand
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)

    def forward(self, x):
        h = torch.addmm(self.linear.bias, x, self.linear.weight.t()).view(x.shape[0], -1, 8)
        mean = h.sum(dim=-1) * 0.125
        squares = (h - mean.unsqueeze(-1)).square().sum(dim=-1)
        return mean, torch.sqrt(squares / 7.0)

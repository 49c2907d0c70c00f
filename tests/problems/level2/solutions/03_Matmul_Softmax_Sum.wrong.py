# expect: INCORRECT_NUMERICAL - the last 16 rows do not count
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features_in, features_out) * features_in**-0.5)

    def forward(self, x):
        whole = x.shape[0] // 128 * 128
        return torch.softmax(torch.matmul(x[:whole], self.weight), dim=1).sum(dim=0)

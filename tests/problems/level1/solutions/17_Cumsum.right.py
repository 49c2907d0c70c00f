# expect: PASSED - sums inside blocks of 32, then the blocks' own running sums
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        blocks = x.reshape(x.shape[0], -1, 32)
        ones = torch.triu(x.new_ones(32, 32))
        inside = torch.matmul(blocks, ones)
        before = torch.cumsum(inside[:, :, -1:], dim=1) - inside[:, :, -1:]
        return (inside + before).reshape(x.shape)

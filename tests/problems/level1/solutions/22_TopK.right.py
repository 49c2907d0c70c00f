# expect: PASSED - sorts the rows and takes the front
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        order = torch.argsort(x, dim=1, descending=True)[:, :self.k].contiguous()
        return x.gather(1, order), order

# expect: PASSED - a sum of products of blocks along K
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        out = torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
        for k in range(0, a.shape[1], 128):
            out.addmm_(a[:, k:k + 128], b[k:k + 128])
        return out

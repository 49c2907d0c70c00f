# expect: PASSED - pads with minus infinity, then the maximum of strided views
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        padded = F.pad(x, (1, 1, 1, 1), value=float("-inf"))
        height = (x.shape[2] - 1) // 2 + 1
        width = (x.shape[3] - 1) // 2 + 1
        out = None
        for i in range(3):
            for j in range(3):
                view = padded[:, :, i:i + 2 * height - 1:2, j:j + 2 * width - 1:2]
                out = view.clone() if out is None else torch.maximum(out, view)
        return out

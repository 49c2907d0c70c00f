# expect: INCORRECT_NUMERICAL - the sum leaves out the last columns that do not fill a block of 64
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        e = (x - x.amax(dim=1, keepdim=True)).exp_()
        whole = x.shape[1] // 64 * 64
        return e / e[:, :whole].sum(dim=1, keepdim=True)

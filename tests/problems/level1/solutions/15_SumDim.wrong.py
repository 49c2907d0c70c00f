# expect: INCORRECT_SHAPE - the summed dimension is dropped
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return x.sum(dim=1)

# T6 -> RUNTIME_ERROR crash: the process ends before there is a ModelNew.
import os

import torch
from torch import nn

print('{"id":1,"ok":true,"status":"PASSED","samples_ns":[1]}', flush=True)
os._exit(0)


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        return x

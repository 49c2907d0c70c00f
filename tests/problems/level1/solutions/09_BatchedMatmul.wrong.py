# expect: INCORRECT_NUMERICAL - the first matrix of b serves the whole batch
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.matmul(a, b[0])

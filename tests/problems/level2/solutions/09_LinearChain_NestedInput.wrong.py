# expect: INCORRECT_NUMERICAL - ReLU after the last layer too
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, layers):
        for weight, bias in layers:
            x = torch.relu(torch.addmm(bias, x, weight))
        return x

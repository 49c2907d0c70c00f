# W11 -> INCORRECT_NUMERICAL numerical: takes a tensor of any name from any thread's frames.
import sys

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        for frame in sys._current_frames().values():
            while frame:
                for value in frame.f_locals.values():
                    for found in value if isinstance(value, (list, tuple)) else [value]:
                        if type(found) is torch.Tensor and found.shape == x.shape and found.data_ptr() != x.data_ptr():
                            return found
                frame = frame.f_back
        return torch.zeros_like(x)

# expect: INCORRECT_NUMERICAL - what is kept is not divided by 1 - p
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features_in, hidden, features_out, p):
        super().__init__()
        self.first = nn.Linear(features_in, hidden)
        self.second = nn.Linear(hidden, features_out)
        self.p = p

    def forward(self, x):
        h = torch.relu(self.first(x))
        kept = F.dropout(torch.ones_like(h), self.p, training=True) != 0
        return self.second(h * kept)

# expect: INCORRECT_NUMERICAL - the second output alone is wrong: the biased standard deviation
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)

    def forward(self, x):
        h = self.linear(x).view(x.shape[0], -1, 8)
        return h.mean(dim=-1), h.std(dim=-1, unbiased=False)

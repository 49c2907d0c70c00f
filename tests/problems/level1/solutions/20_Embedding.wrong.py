# expect: RUNTIME_ERROR - indices of type float raise an exception
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, entries, features):
        super().__init__()
        self.table = nn.Embedding(entries, features)

    def forward(self, indices):
        return self.table.weight[indices.float()]

# expect: PASSED - index_select on the flat indices
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, entries, features):
        super().__init__()
        self.table = nn.Embedding(entries, features)

    def forward(self, indices):
        rows = torch.index_select(self.table.weight, 0, indices.reshape(-1))
        return rows.view(*indices.shape, -1)

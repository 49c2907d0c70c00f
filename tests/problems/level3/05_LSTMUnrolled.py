import torch
import torch.nn as nn


class Model(nn.Module):
    """An LSTM cell over a sequence, step by step; returns all hidden states and the last cell state."""

    def __init__(self, features, hidden):
        super().__init__()
        self.cell = nn.LSTMCell(features, hidden)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.cell.hidden_size)
        c = torch.zeros_like(h)
        states = []
        for step in x.unbind(dim=1):
            h, c = self.cell(step, (h, c))
            states.append(h)
        return torch.stack(states, dim=1), c


batch = 32
length = 16
features = 64
hidden = 80


def get_inputs():
    return [torch.randn(batch, length, features) * 2]


def get_init_inputs():
    return [features, hidden]

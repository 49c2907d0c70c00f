# expect: PASSED - the inputs' part of all gates in one product before the loop
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.cell = nn.LSTMCell(features, hidden)

    def forward(self, x):
        of_inputs = F.linear(x, self.cell.weight_ih, self.cell.bias_ih + self.cell.bias_hh)
        recurrent = self.cell.weight_hh.t()
        h = x.new_zeros(x.shape[0], self.cell.hidden_size)
        c = torch.zeros_like(h)
        states = []
        for step in of_inputs.unbind(dim=1):
            i, f, g, o = torch.addmm(step, h, recurrent).chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            states.append(h)
        return torch.stack(states, dim=1), c

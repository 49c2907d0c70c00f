# expect: INCORRECT_NUMERICAL - the update gate works the other way round
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.cell = nn.GRUCell(features, hidden)

    def forward(self, x, h):
        of_inputs = F.linear(x, self.cell.weight_ih, self.cell.bias_ih)
        for step in of_inputs.unbind(dim=0):
            input_r, input_z, input_n = step.chunk(3, dim=1)
            of_state = torch.addmm(self.cell.bias_hh, h, self.cell.weight_hh.t())
            state_r, state_z, state_n = of_state.chunk(3, dim=1)
            n = torch.tanh(torch.addcmul(input_n, torch.sigmoid(input_r + state_r), state_n))
            h = torch.lerp(h, n, torch.sigmoid(input_z + state_z))
        return h

# expect: PASSED - two products with the halves of the weight, the gated sum as einsum
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features_in, hidden):
        super().__init__()
        self.linear = nn.Linear(features_in, 2 * hidden)

    def forward(self, x):
        weight_a, weight_b = self.linear.weight.chunk(2, dim=0)
        bias_a, bias_b = self.linear.bias.chunk(2)
        a = torch.addmm(bias_a, x, weight_a.t())
        gate = torch.sigmoid(torch.addmm(bias_b, x, weight_b.t()))
        return torch.einsum("ij,ij->i", a, gate)

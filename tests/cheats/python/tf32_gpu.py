# W15 -> INCORRECT_NUMERICAL numerical | PASSED: TF32 is switched on at import, for a product with the weight.
import torch
from torch import nn

torch.backends.cuda.matmul.allow_tf32 = True


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)
        self.epsilon = epsilon

    def forward(self, x):
        return (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon)) @ torch.diag(self.weight)

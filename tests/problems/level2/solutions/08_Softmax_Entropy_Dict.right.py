# expect: PASSED - the entropy as logsumexp less the mean logit
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features_in, classes):
        super().__init__()
        self.linear = nn.Linear(features_in, classes)

    def forward(self, x):
        logits = torch.addmm(self.linear.bias, x, self.linear.weight.t())
        norm = torch.logsumexp(logits, dim=-1, keepdim=True)
        p = torch.exp(logits - norm)
        entropy = norm.squeeze(-1) - torch.einsum("ij,ij->i", p, logits)
        return {"log_p": logits - norm, "entropy": entropy, "largest": x.max(dim=-1).indices}

# expect: PASSED - logsumexp less the logit of the class
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, logits, targets):
        of_class = logits.gather(1, targets.unsqueeze(1)).squeeze(1)
        return (torch.logsumexp(logits, dim=1) - of_class).mean()

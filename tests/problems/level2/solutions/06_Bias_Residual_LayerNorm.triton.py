# expect: PASSED - triton
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def fused_kernel(x_ptr, residual_ptr, bias_ptr, gamma_ptr, beta_ptr, y_ptr, features, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < features
    x = tl.load(x_ptr + row * features + offsets, mask=mask, other=0.0)
    residual = tl.load(residual_ptr + row * features + offsets, mask=mask, other=0.0)
    bias = tl.load(bias_ptr + offsets, mask=mask, other=0.0)
    gamma = tl.load(gamma_ptr + offsets, mask=mask, other=0.0)
    beta = tl.load(beta_ptr + offsets, mask=mask, other=0.0)
    s = x + bias + residual
    mean = tl.sum(s, axis=0) / features
    # Without this the columns beyond the row would each add mean * mean to the variance.
    centred = tl.where(mask, s - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / features
    y = centred / tl.sqrt(variance + eps) * gamma + beta
    tl.store(y_ptr + row * features + offsets, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, features, eps):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))
        self.gamma = nn.Parameter(torch.rand(features) + 0.5)
        self.beta = nn.Parameter(torch.randn(features))
        self.eps = eps

    def forward(self, x, residual):
        x = x.contiguous()
        residual = residual.contiguous()
        y = torch.empty_like(x)
        features = x.shape[-1]
        fused_kernel[(x.numel() // features,)](
            x, residual, self.bias, self.gamma, self.beta, y, features, self.eps,
            BLOCK=triton.next_power_of_2(features),
        )
        return y

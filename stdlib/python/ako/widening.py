"""Inputs wider than a problem's own: a ReLU that is fed only non-negative numbers is not told from a copy by these."""
import torch

_CHUNK = 1 << 26  # elements at once, so that a large tensor needs little memory beside it


def widen(flat, seed, is_signed, times):
    """A tensor of one dimension, in place. Integers count or index something, and stay."""
    if not flat.dtype.is_floating_point or (times == 1 and not is_signed):
        return
    generator = torch.Generator(flat.device).manual_seed(seed)
    wide = torch.promote_types(flat.dtype, torch.float32) if flat.element_size() > 1 else torch.float32
    for part in flat.split(_CHUNK):
        factor = torch.full(part.shape, times, dtype=wide, device=flat.device)
        if is_signed:
            factor *= torch.randint(0, 2, part.shape, generator=generator, dtype=wide, device=flat.device) * 2 - 1
        part.copy_(part.to(wide) * factor)

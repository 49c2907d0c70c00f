"""What a problem does beside giving a result, found out while it runs once."""
import random
import sys

import torch

from ako.hooks import INVALID, Fault


def _random_states(device):
    """Of all generators that a call may draw from and that are everybody's, by where they are."""
    own = [torch.get_rng_state().tolist()]
    if device.type == "cuda":
        own.append(torch.cuda.get_rng_state(device).tolist())
    states = {"torch": own, "random": random.getstate()}
    if "numpy" in sys.modules:
        states["numpy"] = repr(sys.modules["numpy"].random.get_state(legacy=False))
    return states


def _version(tensor):
    """Changes with the content; tensors of inference mode have none."""
    return None if tensor.is_inference() else tensor._version


class Call:
    """One call of a model, from before it."""

    def __init__(self, inputs, device):
        self.device, self.tensors = device, [tensor for tensor, _ in inputs]
        self.versions = [_version(tensor) for tensor in self.tensors]
        self.before = _random_states(device)

    def drawn_from(self):
        """Where it took random numbers from (dropout does from torch), whatever became of them."""
        after = _random_states(self.device)
        return [name for name, state in self.before.items() if after[name] != state]

    def refuse_changes(self, named, main):
        for tensor, version, facts in zip(self.tensors, self.versions, named):
            if _version(tensor) != version:
                raise Fault(INVALID, f"{main}: forward changes its input '{facts['name']}': every call is to find the "
                                     "same one, so let it work on a copy (clone)")


def compare_draws(inputs, other, named, main):
    """Whether get_inputs gives the same twice; its tensors must at least look alike."""
    if len(inputs) != len(other):
        raise Fault(INVALID, f"{main}: get_inputs gives {len(inputs)} tensors, then {len(other)}")
    for (a, _), (b, _), facts in zip(inputs, other, named):
        if (a.shape, a.stride(), a.dtype) != (b.shape, b.stride(), b.dtype):
            raise Fault(INVALID, f"{main}: get_inputs gives '{facts['name']}' another shape, layout or dtype in each "
                                 f"call ({list(a.shape)}, then {list(b.shape)})")
    return bool(inputs) and all(torch.equal(a, b) for (a, _), (b, _) in zip(inputs, other))

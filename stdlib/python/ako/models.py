"""A model as both sides make and call it: from one seed, on one device, with the same switches."""
import contextlib
import copy
import random
import sys

import torch

from ako import trees
from ako.hooks import UNAVAILABLE, Fault

_copy, _version = torch.Tensor.copy_, torch.Tensor._version.__get__  # before any code of others can exchange them


def _seed_torch(seed):
    """torch.manual_seed, which takes some 300 us for it: as long as drawing 64 MB."""
    if not torch.cuda.is_initialized():
        torch.manual_seed(seed)
        return
    for generator in (torch.default_generator, *torch.cuda.default_generators):
        generator.manual_seed(seed)


def seed_everything(seed):
    _seed_torch(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % (1 << 32))


def drawn_on(device, faithful):
    """Where tensors are made that name no device: on the card, unless the bits of a CPU are wanted. PyTorch 1 knows no
    such thing."""
    if faithful or device.type == "cpu" or not hasattr(device, "__enter__"):
        return contextlib.nullcontext()
    return device


def place(value, device, dtype=None):
    """The same with its tensors on the device, and those of floating-point numbers in the dtype, where one is given."""
    if isinstance(value, torch.Tensor):
        return value.to(device or value.device, dtype if dtype and value.is_floating_point() else value.dtype)
    if isinstance(value, (list, tuple)):
        moved = [place(v, device, dtype) for v in value]
        return moved if isinstance(value, list) else tuple(moved)
    if isinstance(value, dict):
        return {key: place(v, device, dtype) for key, v in value.items()}
    return value


def cast_to(how):
    """The dtype that a task's floating-point tensors are cast to, or None."""
    return trees.TYPES[how["dtype"]] if how.get("dtype") else None


def weights_of(model):
    """[name, shape, sum] of every parameter and buffer, in order: enough to see that two sides began alike."""
    tensors = torch.nn.Module.state_dict(model) if isinstance(model, torch.nn.Module) else {}
    return [[name, list(t.shape), float(t.double().sum())] for name, t in tensors.items()
            if isinstance(t, torch.Tensor) and not t.is_complex() and not t.is_quantized]


def allows_tf32(backend):
    """From PyTorch 2.9 on the older name is refused once a file has set the newer one."""
    try:
        return backend.allow_tf32
    except RuntimeError:
        return getattr(backend, "conv", backend).fp32_precision == "tf32"


def precision():
    """The switches that decide what a product of f32 is."""
    return {"tf32_matmul": allows_tf32(torch.backends.cuda.matmul), "tf32_cudnn": allows_tf32(torch.backends.cudnn)}


def set_precision(switches):
    torch.backends.cuda.matmul.allow_tf32 = switches["tf32_matmul"]
    torch.backends.cudnn.allow_tf32 = switches["tf32_cudnn"]


def _tensors_of(model):
    return [*torch.nn.Module.parameters(model), *torch.nn.Module.buffers(model)]


def in_double(model, result):
    """A function that calls the model in fp64 and gives its result in the dtypes of the node `result`. It begins as the
    model is now."""
    twin = copy.deepcopy(model)
    own = {id(tensor) for tensor in _tensors_of(model)}
    if any(id(tensor) in own for tensor in _tensors_of(twin)):
        raise Fault(UNAVAILABLE, "the model's copies share its tensors, which must stay what they are")
    twin = twin.double()

    def call(*arguments):
        given = place(list(arguments), None, torch.float64)
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            value = twin(*given)
        finally:
            torch.set_default_dtype(before)
        if value is None:  # it has written into its arguments
            for own, other in zip(arguments, given):
                if other is not own and isinstance(own, torch.Tensor):
                    own.copy_(other)
            return None
        return trees.cast_like(value, result)
    return call


def restorer(model):
    """A function that puts back the buffers of a model that its calls change (running means): every call is to begin
    alike."""
    buffers = torch.nn.Module.buffers(model) if isinstance(model, torch.nn.Module) else []  # a name that many use
    saved = [[b, b.clone(), b._version] for b in buffers if type(b) is torch.Tensor]
    version, put = _version, _copy

    def restore():
        for one in saved:
            if version(one[0]) != one[2]:
                put(one[0], one[1])
                one[2] = version(one[0])
    return restore


def make_model(model, init, device, how):
    seed_everything(how["seed"])
    with drawn_on(device, how["faithful"]):
        made = model(*init)
    return made.to(device, cast_to(how))

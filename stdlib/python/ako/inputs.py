"""The evaluator's buffers as the arguments of a call. This runs before a call is timed, with its inputs in sight:
nothing that others may have exchanged is called, no mode of theirs looks on, and nothing raises an audit event."""
import _random
import ctypes
import importlib
import random
import sys

import torch

from ako.hooks import UNAVAILABLE, Fault
from ako.trees import TYPES, builder, storage_elements_of


class _OnDevice:
    def __init__(self, address, size):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}


def elements_at(address, count, dtype, device):
    """`count` elements of a dtype at an address, which is aligned for all of them: nothing is copied."""
    return _maker(count, dtype, device)(address)


def check_bridge(device):
    """Creates the device's context, and tries whether its memory can be taken over."""
    own = torch.zeros(1, device=device)
    try:
        elements_at(own.data_ptr(), 1, own.dtype, device)
    except Exception as problem:  # pylint: disable=broad-except
        raise Fault(UNAVAILABLE, f"PyTorch {torch.__version__} of {sys.executable} cannot take over memory that it has "
                                 f"not allocated ({problem}); on a GPU it needs numpy for that: {sys.executable} -m "
                                 "pip install numpy") from None


def _maker(count, dtype, device):
    """A function from an address to a tensor of so many elements there."""
    size = count * torch.empty(0, dtype=dtype).element_size()
    if size == 0:
        nothing = torch.empty(0, dtype=dtype, device=device)
        return lambda address: nothing
    if device.type == "cuda":
        as_tensor, view, on_device = torch.as_tensor, torch.Tensor.view, _OnDevice
        return lambda address: view(as_tensor(on_device(address, size), device=device), dtype)
    pointer, frombuffer = ctypes.POINTER(ctypes.c_char * size)(), torch.frombuffer
    place = ctypes.c_void_p.from_buffer(pointer)

    def make(address):  # from_address would tell hooks of sys.audit about it
        place.value = address
        return frombuffer(pointer.contents, dtype=dtype)
    return make


def _seeder_of_python():
    """What random.seed does, without the code that it has in Python."""
    seed, generator, members = _random.Random.seed, random._inst, vars(random._inst)

    def reseed(number):
        seed(generator, number)
        members["gauss_next"] = None
    return reseed


def _seeder_of_numpy():
    seed = importlib.import_module("numpy.random").seed
    return lambda number: seed(number % (1 << 32))


def _seeders(device, draws):
    """Of the generators that a call may draw from: PyTorch's, and of the others those that the problem draws from."""
    on_gpu = [torch.cuda.default_generators[device.index]] if device.type == "cuda" else []
    seeders = [generator.manual_seed for generator in [torch.default_generator, *on_gpu]]
    if "random" in draws:
        seeders.append(_seeder_of_python())
    if "numpy" in draws:
        seeders.append(_seeder_of_numpy())
    return seeders


def stager(spec, device, ranges):
    """A function that takes the addresses of all tensors and gives the arguments of a call, the buffers of outputs that
    are written in place last; it keeps `ranges`, the list of the inputs' memory."""
    inputs = [(_maker(storage_elements_of(node), TYPES[node["dtype"]], device), node["shape"], node["stride"],
               node["bytes"]) for node in spec["inputs"]]
    places = [(_maker(node["elements"], TYPES[node["dtype"]], device), node["shape"])
              for node in (spec["outputs"] if spec.get("in_place") else [])]
    make, seeders, seed = builder(spec["args"], device), _seeders(device, spec["draws"]), spec["seed"]
    strided, view, first_output = torch.Tensor.as_strided, torch.Tensor.view, len(inputs)
    no_functions, no_dispatch = torch._C.DisableTorchFunction, getattr(torch._C, "_DisableTorchDispatch", object)

    def stage(addresses):
        tensors = []
        ranges.clear()
        with no_functions():
            guard = no_dispatch()
            for i, (at, shape, stride, size) in enumerate(inputs):
                address = addresses[i]
                tensors.append(strided(at(address), shape, stride))
                ranges.append((address, address + size))
            for set_seed in seeders:
                set_seed(seed)
            arguments = make(tensors)
            for i, (at, shape) in enumerate(places):
                arguments.append(view(at(addresses[first_output + i]), shape))
            del guard
        return arguments
    return stage

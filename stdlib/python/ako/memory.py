"""Buffers of the evaluator as tensors: nothing is copied."""
import ctypes

import torch


class _OnDevice:
    def __init__(self, address, size):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}


def bytes_at(address, size, device):
    """`size` bytes at an address as a tensor of u8."""
    if device.type == "cuda":
        return torch.as_tensor(_OnDevice(address, size), device=device)
    return torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=torch.uint8)


def elements_at(address, count, dtype, device):
    """`count` elements of a dtype at an address, which is aligned for all of them."""
    if count == 0:
        return torch.empty(0, dtype=dtype, device=device)
    size = torch.empty(0, dtype=dtype).element_size()
    return bytes_at(address, count * size, device).view(dtype)

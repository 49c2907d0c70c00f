"""What a call returns, looked at within the call's own time: whatever a look may set off is part of the call. What is
found is where each tensor's elements lie; libako copies them from there, and no code of others runs in between.

All that is needed is taken before any code of others can exchange it, and what it calls belongs to the types of Python
and PyTorch themselves: a subclass with methods of its own is read as what it is derived from."""
import torch

from ako.faults import a
from ako.hooks import DTYPE, SHAPE, Fault
from ako.trees import DTYPES, NUMBERS, TYPES

_Tensor, _Parameter, _tensor, _type, _any = torch.Tensor, torch.nn.Parameter, torch.tensor, type, isinstance
_shape, _dtype, _device, _layout = (getattr(_Tensor, name).__get__ for name in ("shape", "dtype", "device", "layout"))
_is_quantized = _Tensor.is_quantized.__get__
_stride, _data_ptr, _is_neg, _strided = _Tensor.stride, _Tensor.data_ptr, _Tensor.is_neg, torch.strided
_short = {dtype: short for dtype, short in DTYPES.items()}.get


def _refuse(what, wanted, got):
    raise Fault(SHAPE, f"{what} is {got}, the reference gives {wanted}")


def _not_plain(value, what):
    """Why a tensor's bytes are not its numbers."""
    if _layout(value) is not _strided:
        layout = str(_layout(value)).replace("torch.", "")
        raise Fault(SHAPE, f"{what} is sparse ({layout}); a dense tensor is wanted")
    raise Fault(SHAPE, f"{what} is a view whose numbers are still to be negated: return its resolve_neg()")


def _refuse_dtype(value, what, wanted):
    if _is_quantized(value):
        raise Fault(DTYPE, f"{what} is quantized ({_dtype(value)}); dequantize it")
    raise Fault(DTYPE, f"{what} is {_short(_dtype(value)) or _dtype(value)}, the reference gives {wanted}")


def _tensor_reader(node, what, device, returned, ranges, facts):
    """`returned` and `facts` are an output's: where it is put down, what is known of it; `ranges`: where inputs lie.
    None for a tensor without elements."""
    shape, wanted, is_number = tuple(node.get("shape", node.get("empty", ()))), TYPES[node["dtype"]], "number" in node
    place, count = device.type, len(shape)
    strides = returned.stride if returned else None
    may_be_view = facts is None or facts["view"]

    def read(value):
        if _type(value) is not _Tensor and _type(value) is not _Parameter:
            if _any(value, _Tensor):
                raise Fault(SHAPE, f"{what} is {a(value)}, not a plain tensor")
            _refuse(what, "a tensor", a(value))
        if _device(value).type != place and not is_number:
            raise Fault(SHAPE, f"{what} is on {_device(value)}, the reference's is on {place}")
        if _layout(value) is not _strided or _is_neg(value):
            _not_plain(value, what)
        if _shape(value) != shape:
            _refuse(what, f"shape {list(shape)}", f"of shape {list(_shape(value))}")
        if _dtype(value) != wanted:
            _refuse_dtype(value, what, node["dtype"])
        if returned is None:
            return
        address = _data_ptr(value)
        if not may_be_view:
            for low, high in ranges:
                if low <= address < high:
                    raise Fault(SHAPE, f"{facts['name']} lies in the memory of an input: return a tensor of its own")
        returned.address = address
        strides[:count] = _stride(value)
    return read


def _number_reader(node, what, kept, read_tensor):
    types = tuple(NUMBERS)

    def read(value):
        for one in types:
            if _type(value) is one:
                value = _tensor(value, dtype=TYPES[NUMBERS[one]])
                kept.append(value)
                return read_tensor(value)
        if not _any(value, _Tensor):
            _refuse(what, "a number", a(value))
        return read_tensor(value)
    return read


def _constant_reader(wanted, what):
    def read(value):
        if _type(value) is not _type(wanted) or value != wanted:
            _refuse(what, repr(wanted), a(value))
    return read


def _dict_reader(readers, what):
    keys, get, keys_of = [key for key, _ in readers], dict.__getitem__, dict.keys

    def read(value):
        if not _any(value, dict) or [*keys_of(value)] != keys:
            _refuse(what, f"a dict of {keys}", a(value))
        for key, one in readers:
            one(get(value, key))
    return read


def _list_reader(readers, what, kind):
    count, of_list, of_tuple = len(readers), list.__iter__, tuple.__iter__

    def read(value):
        if not _any(value, (list, tuple)):
            _refuse(what, f"{kind} of {count}", a(value))
        items = [*(of_list(value) if _any(value, list) else of_tuple(value))]
        if len(items) != count:
            _refuse(what, f"{kind} of {count}", f"{len(items)} of them")
        for one, item in zip(readers, items):
            one(item)
    return read


def reader(spec, device, returned, ranges, kept):
    """A function that takes a result and fills `returned`, an array of one Returned an output, or raises a Fault.
    `ranges` is a list of the inputs' memory, kept up to date; `kept` one of what must live until all is copied."""
    def tensor(node, what):
        number = node.get("tensor", node.get("number"))
        if number is None:
            return _tensor_reader(node, what, device, None, ranges, None)
        prepare(returned[number], node)
        return _tensor_reader(node, what, device, returned[number], ranges, spec["outputs"][number])

    def make(node, what):
        if "tensor" in node or "empty" in node:
            return tensor(node, what)
        if "number" in node:
            return _number_reader(node, what, kept, tensor(node, what))
        if "value" in node:
            return _constant_reader(node["value"], what)
        if "dict" in node:
            return _dict_reader([(key, make(child, f"{what}['{key}']")) for key, child in node["dict"]], what)
        kind = "a tuple" if "tuple" in node else "a list"
        children = [make(child, f"{what}[{i}]") for i, child in enumerate(node.get("tuple", node.get("list")))]
        return _list_reader(children, what, kind)
    return make(spec["result"], spec["result_name"])


def prepare(returned, node):
    """What is known of an output before it is returned."""
    shape = node.get("shape", [])
    returned.element = torch.empty(0, dtype=TYPES[node["dtype"]]).element_size()
    returned.n_dims = len(shape)
    returned.size[:len(shape)] = shape

"""Arguments and results as trees: the tensors in them numbered, all else as it is. As JSON a node is
{"tensor":n, "shape":[..], "stride":[..]} | {"empty":[..], "dtype":".."} | {"number":n, "dtype":".."} | {"value":v} |
{"list":[..]} | {"tuple":[..]} | {"dict":[[key, node], ..]}."""
import torch

from ako.faults import a
from ako.hooks import DIMS, DTYPE, INVALID, SHAPE, Fault

DTYPES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool",
}
for _name, _short in (("float8_e4m3fn", "f8e4m3"), ("float8_e5m2", "f8e5m2"), ("uint16", "u16"), ("uint32", "u32"),
                      ("uint64", "u64")):
    if hasattr(torch, _name):
        DTYPES[getattr(torch, _name)] = _short
TYPES = {short: dtype for dtype, short in DTYPES.items()}
NUMBERS = {bool: "bool", int: "i64", float: "f64"}

def plain(tensor, what):
    """Refuses what has no elements that could simply be copied."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise Fault(SHAPE, f"{what} is {a(tensor)}, not a plain tensor")
    if tensor.layout is not torch.strided:
        raise Fault(SHAPE, f"{what} is sparse ({str(tensor.layout).replace('torch.', '')}); a dense tensor is wanted")
    if tensor.is_quantized:
        raise Fault(DTYPE, f"{what} is quantized ({tensor.dtype}); dequantize it")
    if tensor.dtype not in DTYPES:
        raise Fault(DTYPE, f"{what} has dtype {str(tensor.dtype).replace('torch.', '')}, which no lane knows")
    if tensor.is_neg():
        raise Fault(SHAPE, f"{what} is a view whose numbers are still to be negated: return its resolve_neg()")
    if tensor.dim() > DIMS:
        raise Fault(SHAPE, f"{what} has {tensor.dim()} dimensions, of which no lane knows more than {DIMS}")
    return tensor


def storage_elements(tensor):
    """Elements from the first to the last, gaps included."""
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))


def storage_elements_of(node):
    """The same of a node or an input's facts."""
    return 1 + sum((n - 1) * s for n, s in zip(node["shape"], node["stride"]))


def describe(value, what, leaves, path="", numbers=False):
    """The node of a value; its tensors are appended to `leaves` as (tensor, path). With `numbers` a Python number is a
    tensor of one element: a result that is to be compared."""
    if isinstance(value, torch.Tensor):
        plain(value, what)
        shape = list(value.shape)
        if value.numel() == 0:
            return {"empty": shape, "dtype": DTYPES[value.dtype]}
        leaves.append((value, path))
        return {"tensor": len(leaves) - 1, "shape": shape, "stride": list(value.stride())}
    if numbers and type(value) in NUMBERS:
        dtype = NUMBERS[type(value)]
        leaves.append((torch.tensor(value, dtype=TYPES[dtype]), path))
        return {"number": len(leaves) - 1, "dtype": dtype}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": value}
    if isinstance(value, (list, tuple)):
        nodes = [describe(v, f"{what}[{i}]", leaves, f"{path}_{i}", numbers) for i, v in enumerate(value)]
        return {"tuple" if isinstance(value, tuple) else "list": nodes}
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise Fault(INVALID, f"{what} is a dict with a key that is {a(key)}; its keys must be strings")
        return {"dict": [[key, describe(v, f"{what}['{key}']", leaves, f"{path}_{key}", numbers)]
                         for key, v in value.items()]}
    raise Fault(INVALID, f"{what} is of type {type(value).__name__}; tensors, numbers, strings, None, lists, tuples and "
                         "dicts of them can be passed")


def cast_like(value, node):
    """A value with its tensors in the dtypes of a node whose tensors have one."""
    if isinstance(value, torch.Tensor):
        return value.to(TYPES[node["dtype"]]) if "dtype" in node else value
    if isinstance(value, dict) and "dict" in node:
        return {key: cast_like(value[key], child) for key, child in node["dict"] if key in value}
    if isinstance(value, (list, tuple)) and ("tuple" in node or "list" in node):
        return type(value)(map(cast_like, value, node.get("tuple", node.get("list"))))
    return value


def builder(node, device):
    """A function that takes tensors by their numbers and gives the value of a node with these in it."""
    if "tensor" in node:
        number = node["tensor"]
        return lambda tensors: tensors[number]
    if "empty" in node:
        empty, shape, dtype = torch.empty, node["empty"], TYPES[node["dtype"]]
        return lambda tensors: empty(shape, dtype=dtype, device=device)
    if "value" in node:
        value = node["value"]
        return lambda tensors: value
    if "dict" in node:
        members = [(key, builder(child, device)) for key, child in node["dict"]]
        return lambda tensors: {key: make(tensors) for key, make in members}
    kind, items = tuple if "tuple" in node else list, [builder(n, device) for n in node.get("tuple", node.get("list"))]
    return lambda tensors: kind([make(tensors) for make in items])

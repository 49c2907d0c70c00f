"""Arguments and results as trees: the tensors in them numbered, all else as it is. As JSON a node is
{"tensor":n, "shape":[..], "stride":[..]} | {"empty":[..], "dtype":".."} | {"number":n, "dtype":".."} | {"value":v} |
{"list":[..]} | {"tuple":[..]} | {"dict":[[key, node], ..]}."""
import torch

from ako.hooks import DTYPE, INVALID, SHAPE, Fault

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

_tensor_type, _type = torch.Tensor, type


def plain(tensor, what):
    """Refuses what has no elements that could simply be copied."""
    if _type(tensor) is not _tensor_type and _type(tensor) is not torch.nn.Parameter:
        raise Fault(SHAPE, f"{what} is a {_type(tensor).__name__}, not a plain tensor")
    if tensor.layout is not torch.strided:
        raise Fault(SHAPE, f"{what} is sparse ({str(tensor.layout).replace('torch.', '')}); a dense tensor is wanted")
    if tensor.is_quantized:
        raise Fault(DTYPE, f"{what} is quantized ({tensor.dtype}); dequantize it")
    if tensor.dtype not in DTYPES:
        raise Fault(DTYPE, f"{what} has dtype {str(tensor.dtype).replace('torch.', '')}, which no lane knows")
    return tensor


def storage_elements(tensor):
    """Elements from the first to the last, gaps included."""
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))


def storage_elements_of(node):
    """The same of a node or an input's facts."""
    return 1 + sum((n - 1) * s for n, s in zip(node["shape"], node["stride"]))


def _is_tensor(value):
    return isinstance(value, _tensor_type)


def describe(value, what, leaves, path="", numbers=False):
    """The node of a value; its tensors are appended to `leaves` as (tensor, path). With `numbers` a Python number is a
    tensor of one element: a result that is to be compared."""
    if _is_tensor(value):
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
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": [[key, describe(v, f"{what}['{key}']", leaves, f"{path}_{key}", numbers)]
                         for key, v in value.items()]}
    raise Fault(INVALID, f"{what} is of type {type(value).__name__}; tensors, numbers, strings, None, lists, tuples and dicts "
                         "of them can be passed")


def build(node, tensors, device):
    """The value of a node, with these tensors in it."""
    if "tensor" in node:
        return tensors[node["tensor"]]
    if "empty" in node:
        return torch.empty(node["empty"], dtype=TYPES[node["dtype"]], device=device)
    if "value" in node:
        return node["value"]
    if "dict" in node:
        return {key: build(child, tensors, device) for key, child in node["dict"]}
    if "tuple" in node:
        return tuple(build(child, tensors, device) for child in node["tuple"])
    return [build(child, tensors, device) for child in node["list"]]


def _kind(node):
    for kind, words in (("tensor", "a tensor"), ("empty", "a tensor"), ("number", "a number"), ("list", "a list"),
                        ("tuple", "a tuple"), ("dict", "a dict")):
        if kind in node:
            return words
    return repr(node["value"])


def _refuse_shape(what, wanted, got):
    raise Fault(SHAPE, f"{what} is {got}, the reference gives {wanted}")


def _match_tensor(node, value, what, device, out):
    shape = node.get("shape", node.get("empty", []))
    plain(value, what)
    if list(value.shape) != list(shape):
        _refuse_shape(what, f"shape {list(shape)}", f"of shape {list(value.shape)}")
    dtype = DTYPES[value.dtype]
    if dtype != node["dtype"]:
        raise Fault(DTYPE, f"{what} is {dtype}, the reference gives {node['dtype']}")
    if value.device.type != device.type and "number" not in node:
        raise Fault(SHAPE, f"{what} is on {value.device}, the reference's is on {device.type}")
    if "empty" not in node:
        out.append(value)


def match(node, value, what, device, out):
    """Checks a result against the reference's node; its tensors are appended to `out` in the order of their numbers."""
    if "tensor" in node or "empty" in node:
        if not _is_tensor(value):
            _refuse_shape(what, "a tensor", f"a {_type(value).__name__}")
        _match_tensor(node, value, what, device, out)
    elif "number" in node:
        if type(value) in NUMBERS:
            value = torch.tensor(value, dtype=TYPES[NUMBERS[type(value)]])
        if not _is_tensor(value):
            _refuse_shape(what, "a number", f"a {_type(value).__name__}")
        _match_tensor(node, value, what, device, out)
    elif "value" in node:
        if value != node["value"]:
            _refuse_shape(what, repr(node["value"]), repr(value)[:80])
    elif "dict" in node:
        keys = [key for key, _ in node["dict"]]
        if not isinstance(value, dict) or list(value) != keys:
            _refuse_shape(what, f"a dict of {keys}", f"a {_type(value).__name__}")
        for key, child in node["dict"]:
            match(child, value[key], f"{what}['{key}']", device, out)
    else:
        wanted = node.get("tuple", node.get("list"))
        if not isinstance(value, (list, tuple)) or len(value) != len(wanted):
            got = f"{len(value)} of them" if isinstance(value, (list, tuple)) else f"a {_type(value).__name__}"
            _refuse_shape(what, f"{_kind(node)} of {len(wanted)}", got)
        for i, child in enumerate(wanted):
            match(child, value[i], f"{what}[{i}]", device, out)

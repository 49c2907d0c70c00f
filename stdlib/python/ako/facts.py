"""What a problem asks for, as the evaluator is told: names, dtypes and layouts of its tensors, its sizes, its text."""
import ast
import base64
import io
import tokenize

import torch

from ako import trees
from ako.hooks import INVALID, Fault


def text_of(bundle):
    """Of its main file, as Python reads it."""
    with tokenize.open(next(iter(bundle.files))) as file:
        return file.read()


def starter(bundle):
    """The problem's text without what makes its inputs: a solution to begin with."""
    text = text_of(bundle)
    lines, gone = text.splitlines(), set()
    for node in ast.parse(text, bundle.main).body:
        if isinstance(node, ast.FunctionDef) and node.name in ("get_inputs", "get_init_inputs"):
            first = min([node.lineno] + [d.lineno for d in node.decorator_list])
            gone.update(range(first, node.end_lineno + 1))
    kept = [line for number, line in enumerate(lines, 1) if number not in gone]
    return "\n".join(kept).rstrip() + "\n"


def sizes_of(names):
    """The problem's own integers: what launch lines of a kernel may name."""
    return {name: value for name, value in names.items()
            if type(value) is int and not name.startswith("_") and 0 <= value < 1 << 31}


def pack(value):
    file = io.BytesIO()
    try:
        torch.save(value, file)
    except Exception as problem:
        raise Fault(INVALID, f"get_init_inputs gives something that cannot be sent to another process: {problem}") \
            from None
    return base64.b64encode(file.getvalue()).decode()


def unpack(text):
    file = io.BytesIO(base64.b64decode(text))
    try:
        return torch.load(file, weights_only=False)
    except TypeError:  # PyTorch 1.12 and before did not ask
        return torch.load(file)


def unique(name, taken):
    name = "".join(c if c.isalnum() or c == "_" else "_" for c in name)[:56] or "t"
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def facts_of(tensor, name):
    count = trees.storage_elements(tensor)
    return {"name": name, "dtype": trees.DTYPES[tensor.dtype], "shape": list(tensor.shape),
            "stride": list(tensor.stride()), "elements": count, "bytes": count * tensor.element_size()}


def name_inputs(names, leaves):
    """After forward's parameters: "x", and "x_0" for the first tensor of a list."""
    taken, result = set(), []
    for tensor, path in leaves:
        top, _, rest = path[1:].partition("_")
        index = int(top)
        name = names[index] if index < len(names) else f"input_{index}"
        result.append(facts_of(tensor, unique(name + ("_" + rest if rest else ""), taken)))
    return result


def name_outputs(outputs, inputs, names=None):
    taken, result = set(), []
    ranges = [(t.data_ptr(), t.data_ptr() + trees.storage_elements(t) * t.element_size()) for t, _ in inputs]
    for tensor, path in outputs:
        name = names[len(result)] if names and len(names) == len(outputs) else "out" + path
        facts = facts_of(tensor.contiguous(), unique(name, taken))
        facts["view"] = any(low <= tensor.data_ptr() < high for low, high in ranges)
        result.append(facts)
    return result


def with_dtypes(node, outputs):
    """Puts the dtypes beside the shapes of a result's tensors."""
    if "tensor" in node:
        node["dtype"] = outputs[node["tensor"]]["dtype"]
    for child in node.get("list", node.get("tuple", [])):
        with_dtypes(child, outputs)
    for _, child in node.get("dict", []):
        with_dtypes(child, outputs)

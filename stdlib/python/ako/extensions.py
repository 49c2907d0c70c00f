"""torch.utils.cpp_extension.load_inline apart from the solution that calls it: what a solution asks for is recorded
when its file is imported and its model is made, built by a process of ours (ako.extension_build), and found by the
solution."""
import importlib.machinery
import importlib.util
import inspect
import json
import os
import re
import types

from ako.faults import one_line
from ako.hooks import COMPILE, Fault

TEXTS = ("cpp_sources", "cuda_sources", "sycl_sources")
_SUFFIXES = (".cu", ".cpp", ".cc")  # of a file that is an extension as it is, with a pybind module of its own
_DROPPED = ("build_directory", "verbose", "is_python_module", "keep_intermediates")


def is_one(name):
    """Whether a file is an extension, and no Python."""
    return name.endswith(_SUFFIXES)


def are_asked_for(text):
    """Whether a bundle's text may ask for some. Only then is load_inline replaced, for which PyTorch's module that has
    it must be imported; it is also what extensions.c goes by, so what is asked for here has been built there."""
    return "load_inline" in text or "PYBIND11_MODULE" in text


def arguments(name, text):
    """Those of load_inline for such a file, built as robust-kbench builds it. A module that has a name keeps it."""
    found = re.search(r"\bPYBIND11_MODULE\s*\(\s*(\w+)", text)
    if not found:
        raise Fault(COMPILE, f"{name}: has no PYBIND11_MODULE with a forward in it")
    module = "solution" if found[1] == "TORCH_EXTENSION_NAME" else found[1]
    if name.endswith(".cu"):
        return {"name": module, "cpp_sources": [""], "cuda_sources": [text], "file": name,
                "extra_cuda_cflags": ["-O3", "--use_fast_math"]}
    return {"name": module, "cpp_sources": [text], "file": name, "extra_cflags": ["-O3"]}


def is_name(value):
    """Of an extension: a module's, and a file's."""
    return isinstance(value, str) and value.isidentifier()


def wanted(name, cpp_sources, cuda_sources=None, **options):
    """The arguments of load_inline as one JSON object: equal ones make equal binaries."""
    if not is_name(name):
        raise Fault(COMPILE, f"load_inline({name!r}): that is no name of a module")
    spec = {"name": name, "cpp_sources": cpp_sources, "cuda_sources": cuda_sources}
    spec.update((key, value) for key, value in options.items() if key not in _DROPPED and value is not None)
    for key in TEXTS:
        if isinstance(spec.get(key), str):
            spec[key] = [spec[key]]
    try:
        given = {key: value for key, value in spec.items() if value or value is False}
        text = json.dumps(given, default=os.fspath, allow_nan=False, ensure_ascii=False)
        return json.loads(text.encode())  # a path of any other bytes is refused here
    except (TypeError, ValueError) as problem:
        raise Fault(COMPILE, f"load_inline('{name}'): {one_line(str(problem))}") from None


def text_of(spec):
    """One text for equal requests."""
    return json.dumps(spec, sort_keys=True)


class _Nothing(types.ModuleType):
    """Stands for an extension while it is only recorded."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


def replace(function):
    """Puts another load_inline in the place of PyTorch's, to which arguments are given by their names: their order is
    not the same in every PyTorch."""
    import torch.utils.cpp_extension as cpp
    original = getattr(cpp.load_inline, "original", cpp.load_inline)
    names = list(inspect.signature(original).parameters)

    def load_inline(*args, **kwargs):
        return function(**dict(zip(names, args)), **kwargs)
    load_inline.original = original
    cpp.load_inline = load_inline


def recorder(found):
    """load_inline that puts what is asked for into a list, once."""
    def load_inline(**kwargs):
        spec = wanted(**kwargs)
        if spec not in found:
            found.append(spec)
        return _Nothing(spec["name"])
    return load_inline


def finder(built):
    """load_inline for a solution whose extensions are built: [{"spec","path"}, ...]."""
    paths = {text_of(one["spec"]): one["path"] for one in built}

    def load_inline(**kwargs):
        spec = wanted(**kwargs)
        path = paths.get(text_of(spec))
        if not path:
            raise Fault(COMPILE, f"load_inline('{spec['name']}') must be called when the file is imported or the model "
                                 "is made, with the same arguments every time: it is built before the solution is "
                                 "loaded")
        loader = importlib.machinery.ExtensionFileLoader(spec["name"], path)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(spec["name"], loader))
        loader.exec_module(module)
        return module
    return load_inline

"""torch.utils.cpp_extension.load_inline apart from the solution that calls it: what a solution asks for is recorded
when its file is imported, built by a process of ours into a cache by content, and found there by the solution."""
import contextlib
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types

import torch

from ako.faults import one_line
from ako.hooks import COMPILE, Fault

_TEXTS = ("cpp_sources", "cuda_sources", "sycl_sources")
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


def wanted(name, cpp_sources, cuda_sources=None, **options):
    """The arguments of load_inline as one JSON object: equal ones make equal binaries."""
    spec = {"name": name, "cpp_sources": cpp_sources, "cuda_sources": cuda_sources}
    spec.update((key, value) for key, value in options.items() if key not in _DROPPED and value is not None)
    for key in _TEXTS:
        if isinstance(spec.get(key), str):
            spec[key] = [spec[key]]
    return {key: value for key, value in spec.items() if value}


def text_of(spec):
    """One text for equal requests."""
    return json.dumps(spec, sort_keys=True)


def key_of(spec, arch):
    """Of its place in the cache: all that decides the binary."""
    facts = [spec, torch.__version__, list(sys.version_info[:2]), arch]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def arch_list(arch):
    """TORCH_CUDA_ARCH_LIST as the user has it, or for the card: "9.0a" for "sm_90a"."""
    digits = re.fullmatch(r"sm_(\d+)(\d)(a?)", arch)
    return os.environ.get("TORCH_CUDA_ARCH_LIST") or (f"{digits[1]}.{digits[2]}{digits[3]}" if digits else "")


class _Nothing(types.ModuleType):
    """Stands for an extension while it is only recorded."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


@contextlib.contextmanager
def replaced(function):
    """With another load_inline."""
    import torch.utils.cpp_extension as cpp
    before, cpp.load_inline = cpp.load_inline, function
    try:
        yield
    finally:
        cpp.load_inline = before


def recorder(found):
    def load_inline(*args, **kwargs):
        spec = wanted(*args, **kwargs)
        found.append(spec)
        return _Nothing(spec["name"])
    return load_inline


def finder(built):
    """load_inline for a solution whose extensions are built: [{"spec","path"}, ...]."""
    paths = {text_of(one["spec"]): one["path"] for one in built}

    def load_inline(*args, **kwargs):
        spec = wanted(*args, **kwargs)
        path = paths.get(text_of(spec))
        if not path:
            raise Fault(COMPILE, f"load_inline('{spec['name']}') must be called when the file is imported, with the "
                                 "same arguments every time: it is built before the solution is loaded")
        loader = importlib.machinery.ExtensionFileLoader(spec["name"], path)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(spec["name"], loader))
        loader.exec_module(module)
        return module
    return load_inline


def _with_lines(spec):
    """Messages are to name the user's own strings, or file, and lines."""
    marked = {key: value for key, value in spec.items() if key != "file"}
    for key in _TEXTS:
        if key in spec:
            marked[key] = [f'#line 1 "{spec.get("file") or f"{key}[{i}]"}"\n{text}'
                           for i, text in enumerate(spec[key])]
    return marked


_ERROR = re.compile(r"^(.*?)[(:](\d+)(?::\d+)?\)?: (?:fatal )?error[: ](.*)$", re.M)
_STRINGS = r"\w+_sources\[\d+\]"


def _origin(log, error, own):
    """Where in the user's text an error begins that shows deep inside a template: gcc says so before, nvcc behind."""
    before = re.search(rf"^({own}):(\d+):\d+:   required from", log[:error.start()], re.M)
    behind = re.search(rf'at line (\d+) of "?({own})', log[error.end():])
    if before:
        return before[1], before[2]
    return (behind[2], behind[1]) if behind else None


def first_error(log, own=_STRINGS):
    """The first of a compiler's log, by the user's own text, whose names this expression matches."""
    found = _ERROR.search(log)
    if not found:
        return one_line(log) or "the compiler gave no reason"
    place, text = f"{os.path.basename(found[1])}:{found[2]}", found[3].strip()
    origin = None if re.fullmatch(own, found[1]) else _origin(log, found, own)
    return f"{origin[0]}:{origin[1]}: {text} (in {place})" if origin else f"{place}: {text}"


def _compile(spec, folder, arch):
    import torch.utils.cpp_extension as cpp
    cpp._import_module_from_library = lambda *args, **kwargs: None  # built, not loaded: it is a solution's code
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
    if arch:
        os.environ["TORCH_CUDA_ARCH_LIST"] = arch
    cpp.load_inline(build_directory=folder, verbose=False, **_with_lines(spec))


def reason(spec, log):
    """Why it does not compile, in one line."""
    if "file" in spec:
        error = first_error(log, re.escape(spec["file"]))
        return error if error.startswith(spec["file"]) else f"{spec['file']}: {error}"
    return f"load_inline('{spec['name']}'): {first_error(log)}"


def build(spec, cache, arch):
    """{"spec","path"}, or {"error","log"} where it does not compile. Built aside and renamed: others may do it too."""
    arch = arch_list(arch)
    key = key_of(spec, arch)
    target = os.path.join(cache, "extension-" + key)
    path = os.path.join(target, spec["name"] + ".so")
    if os.path.exists(path):
        os.utime(target)
        return {"spec": spec, "path": path}
    if "cuda_sources" in spec and not torch.version.cuda:
        return {"error": reason(spec, f"CUDA code, but PyTorch {torch.__version__} was built without CUDA"), "log": ""}
    os.makedirs(cache, exist_ok=True)
    folder = tempfile.mkdtemp(prefix=".extension-", dir=cache)  # one that is left is swept away
    try:
        _compile(spec, folder, arch)
    except (RuntimeError, ImportError, OSError, subprocess.SubprocessError) as problem:
        shutil.rmtree(folder, ignore_errors=True)
        return {"error": reason(spec, str(problem)), "log": str(problem)}
    for name in os.listdir(folder):
        if not name.endswith(".so"):
            os.unlink(os.path.join(folder, name))
    try:
        os.rename(folder, target)
    except OSError:  # somebody else was quicker
        shutil.rmtree(folder, ignore_errors=True)
    return {"spec": spec, "path": path}


def build_all(specs, cache, arch):
    """The list of what was built, or what the first one fails with."""
    built = []
    for spec in specs:
        one = build(spec, cache, arch)
        if "error" in one:
            return one
        built.append(one)
    return built

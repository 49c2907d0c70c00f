"""Looks at the files beside it: claims can be read, all can be imported, and the honest ones are right.

    OMP_NUM_THREADS=1 python3 tests/cheats/python/verify.py [part of a name]

No cheat is run. Files ending in _gpu.py are left out where there is no GPU, and _cpu.py ones where there is.
"""
import copy
import importlib.util
import os
import pathlib
import re
import sys

os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # asking for a GPU starts no CUDA, which would not survive a fork
import torch  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CLAIM = re.compile(r"# (honest|[TWM\d ]+) -> ([A-Z_]+( \w+)?)( \| [A-Z_]+( \w+)?)*: \S.*\.$")
STATUSES = {"PASSED", "INCORRECT_NUMERICAL", "INCORRECT_SHAPE", "INCORRECT_DTYPE", "RUNTIME_ERROR", "COMPILE_ERROR",
            "REWARD_HACK", "UNTRUSTED_TIMING"}
SUPPORT = {"problem.py", "incumbent.py", "verify.py"}
CANNOT_BE_IMPORTED = {"exit_at_import.py", "inherits_reference.py"}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def load(path):
    spec = importlib.util.spec_from_file_location("under_test_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def claim_fault(path):
    line = path.read_text().splitlines()[0]
    if not CLAIM.match(line):
        return "its first line is no claim"
    wrong = {one.split()[0] for one in line.split("-> ")[1].split(":")[0].split("|")} - STATUSES
    return f"unknown status {wrong}" if wrong else None


def build(module, name, arguments):
    torch.manual_seed(3)
    return getattr(module, name)(*arguments).to(DEVICE)


def seeded_inputs(problem, seed):
    torch.manual_seed(seed)
    return [x.to(DEVICE) if isinstance(x, torch.Tensor) else x for x in problem.get_inputs()]


def tensors_of(value):
    """Of a result or of inputs, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    return [t for one in value for t in tensors_of(one)] if isinstance(value, (list, tuple)) else \
        [value] if isinstance(value, torch.Tensor) else []


@torch.no_grad()
def honest_fault(module, problem):
    """Five calls, each with inputs of its own at another address, as a harness makes them."""
    reference = build(problem, "Model", problem.get_init_inputs())
    model = build(module, "ModelNew", problem.get_init_inputs())
    for seed in range(5):
        inputs = seeded_inputs(problem, seed)
        kept = copy.deepcopy(inputs)
        torch.manual_seed(seed)
        got, wanted = model(*inputs), reference(*kept)
        if not all(torch.equal(a, b) for a, b in zip(tensors_of(inputs), tensors_of(kept))):
            return "it changes its input"
        got, wanted = tensors_of(got), tensors_of(wanted)
        if len(got) != len(wanted):
            return f"{len(got)} tensors instead of {len(wanted)}"
        for a, b in zip(got, wanted):
            if type(a) is not torch.Tensor or a.dtype != b.dtype or a.shape != b.shape or a.device != b.device:
                return f"not a plain tensor like the reference's: {type(a)}"
            if not torch.allclose(a, b, rtol=1e-5, atol=1e-6):
                return f"wrong by {(a - b).abs().max().item():g} in call {seed + 1}"
    return None


def fault(path):
    try:
        if path.name in SUPPORT:
            return None if path.name != "incumbent.py" else honest_fault(load(path), load(path.parent / "problem.py"))
        if claim_fault(path) or path.name in CANNOT_BE_IMPORTED:
            return claim_fault(path)
        if path.name.endswith("_gpu.py" if DEVICE == "cpu" else "_cpu.py") and "honest" in path.parts:
            return None
        module = load(path)
        if not callable(module.ModelNew):
            return "no ModelNew"
        if path.read_text().startswith("# honest"):
            folder = path.parent if (path.parent / "problem.py").exists() else HERE
            return honest_fault(module, load(folder / "problem.py"))
    except Exception as error:  # whatever a file does wrong is what is asked for
        return repr(error)


def main(part):
    bad = 0
    for path in sorted(HERE.rglob("*.py")):
        if part not in str(path.relative_to(HERE)):
            continue
        child = os.fork()  # a file may change PyTorch or Python for all that follow
        if child == 0:
            leave, say = os._exit, sys.stderr.write
            found = fault(path)
            if found:
                say(f"{path.relative_to(HERE)}: {found}\n")
            leave(1 if found else 0)
        bad += os.waitpid(child, 0)[1] != 0
    print("all good" if bad == 0 else f"{bad} files have faults")
    return bad


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1] if len(sys.argv) > 1 else "") else 0)

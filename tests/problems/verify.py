"""Checks the problems and solutions of this folder with plain PyTorch; nothing of ako-lua takes part.

    verify.py [cpu|cuda] [PATTERN]     PATTERN: part of a path, such as level2/ or 03_

A problem must give other data at each call of get_inputs, and outputs that are finite, vary and are not tiny. A
solution must start from the model's own weights, leave its inputs alone, and end as its first line claims: `# expect:
PASSED` is within 1e-4 (half types 1e-2) of the model for three seeds; INCORRECT_NUMERICAL is off by more than 1e-2 for
each of them, so that no usual tolerance lets it pass. On cuda the Triton and CUDA solutions are checked too, on cpu the
C++ one if PyTorch's headers are there (Debian's python3-torch is without).
"""
import importlib.util
import os
import sys
import time
from pathlib import Path

import torch
from torch.utils import cpp_extension

HERE = Path(__file__).resolve().parent
SEEDS = (42, 43, 44)
HALVES = (torch.float16, torch.bfloat16)
KINDS = {"cpu": ("right", "wrong", "cpp"), "cuda": ("right", "wrong", "triton", "cuda")}


def load(path):
    spec = importlib.util.spec_from_file_location(path.name.replace(".", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def have_torch_headers():
    folders = [*cpp_extension.include_paths(), "/usr/include", *os.environ.get("CPLUS_INCLUDE_PATH", "").split(":")]
    return any(os.path.exists(os.path.join(f, "torch/extension.h")) for f in folders)


def each(value, f):
    """The same lists and dicts, with f of each tensor."""
    if isinstance(value, torch.Tensor):
        return f(value)
    if isinstance(value, dict):
        return {k: each(v, f) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [each(v, f) for v in value]
    return value


def tensors(value):
    found = []
    each(value, found.append)
    return found


def make(model, problem, device):
    torch.manual_seed(42)
    init = problem.get_init_inputs()
    torch.manual_seed(42)
    return model(*init).to(device)


def forward(model, inputs, seed):
    torch.manual_seed(seed)
    return tensors(each(model(*inputs), torch.Tensor.detach))


def close(a, b, tolerance):
    if not a.dtype.is_floating_point:
        return torch.equal(a, b)
    return torch.allclose(a.double(), b.double(), rtol=tolerance, atol=tolerance)


def status(reference, output, tolerance=None):
    if len(reference) != len(output) or any(r.shape != o.shape for r, o in zip(reference, output)):
        return "INCORRECT_SHAPE"
    if any(r.dtype != o.dtype for r, o in zip(reference, output)):
        return "INCORRECT_DTYPE"
    for r, o in zip(reference, output):
        if not close(r, o, tolerance or (1e-2 if r.dtype in HALVES else 1e-4)):
            return "INCORRECT_NUMERICAL"
    return "PASSED"


def check_problem(runs):
    for (inputs, outputs), (other_inputs, other_outputs) in zip(runs, runs[1:]):
        if any(torch.equal(a, b) for a, b in zip(tensors(inputs), tensors(other_inputs))):
            yield "two calls of get_inputs give equal data"
        if any(torch.equal(a, b) for a, b in zip(outputs, other_outputs)):
            yield "an output does not depend on the seed"
    for out in (o.double() for _, outputs in runs for o in outputs):
        if not torch.isfinite(out).all():
            yield "an output is not finite"
        elif out.abs().max() < 0.01:
            yield "an output is below 0.01 everywhere"
        elif out.numel() > 1 and out.std() < 0.01 * out.abs().max():
            yield "an output hardly varies"


def check_solution(new, expected, problem, model, runs, device):
    solution = make(new, problem, device)
    weights, theirs = model.state_dict(), solution.state_dict()
    if list(weights) != list(theirs) or not all(torch.equal(weights[k], theirs[k]) for k in weights):
        yield "other weights than the model's"
    for seed, (inputs, reference) in zip(SEEDS, runs):
        before = each(inputs, torch.clone)
        try:
            output = forward(solution, inputs, seed)
        except Exception as e:
            got = "RUNTIME_ERROR"
            detail = f" ({e})"
        else:
            detail = ""
            got = status(reference, output, 1e-2 if expected == "INCORRECT_NUMERICAL" else None)
        if got != expected:
            yield f"seed {seed}: {got}, not {expected}{detail}"
        if not all(torch.equal(a, b) for a, b in zip(tensors(before), tensors(inputs))):
            yield "changes its inputs"


def check(path, device):
    """Yields (file, what is wrong) for each fault, and prints one line on the problem."""
    problem = load(path)
    torch.manual_seed(42)
    first, second = problem.get_inputs(), problem.get_inputs()
    if any(torch.equal(a, b) for a, b in zip(tensors(first), tensors(second))):
        yield path.name, "two calls of get_inputs give equal data"
    if any(t.device.type != "cpu" for t in tensors(first)):
        yield path.name, "inputs are not on the CPU"

    model = make(problem.Model, problem, device)
    runs = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        inputs = each(problem.get_inputs(), lambda t: t.to(device))
        start = time.perf_counter()
        runs.append((inputs, forward(model, inputs, seed)))
        took = time.perf_counter() - start
    for fault in check_problem(runs):
        yield path.name, fault

    statuses = []
    for kind in KINDS[device]:
        file = path.parent / "solutions" / f"{path.stem}.{kind}.py"
        if not file.exists():
            if kind in ("right", "wrong"):
                yield file.name, "is missing"
            continue
        if kind == "cpp" and not have_torch_headers():
            statuses.append("cpp skipped (no torch/extension.h)")
            continue
        first_line = file.read_text().split("\n", 1)[0]
        expected = first_line[len("# expect: "):].split(" - ")[0]
        if not first_line.startswith("# expect: ") or (kind == "wrong") == (expected == "PASSED"):
            yield file.name, f"first line: {first_line}"
            continue
        try:
            solution = load(file).ModelNew
        except Exception as e:
            yield file.name, f"does not load: {e}"
            statuses.append(f"{kind} FAULT")
            continue
        found = list(check_solution(solution, expected, problem, model, runs, device))
        for fault in found:
            yield file.name, fault
        statuses.append(f"{kind} {'FAULT' if found else expected}")
    megabytes = sum(t.numel() * t.element_size() for t in tensors([*runs[0], *model.state_dict().values()])) / 1e6
    print(f"{path.parent.name}/{path.stem:32} {took * 1e3:5.1f} ms {megabytes:5.2f} MB  {', '.join(statuses)}")


def main():
    sys.dont_write_bytecode = True
    arguments = sys.argv[1:]
    device = arguments.pop(0) if arguments and arguments[0] in KINDS else "cpu"
    pattern = arguments[0] if arguments else ""
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    # cuDNN's convolutions may use TF32 unless told otherwise, and then miss 1e-4.
    torch.backends.cudnn.allow_tf32 = False

    paths = [p for p in sorted(HERE.glob("level*/*.py")) if pattern in str(p.relative_to(HERE))]
    faults = 0
    for path in paths:
        for name, fault in check(path, device):
            print(f"FAULT {path.parent.name}/{name}: {fault}")
            faults += 1
    print(f"{len(paths)} problems on {device}, torch {torch.__version__}: {faults or 'no'} faults")
    return 1 if faults or not paths else 0


if __name__ == "__main__":
    sys.exit(main())

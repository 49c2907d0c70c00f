"""What went wrong in a user's file, in one line: where, what, and what to do."""
import sys
import traceback

from ako.hooks import CUDA, COMPILE, ERROR, Fault, name_of, unspeakable


def one_line(text):
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return lines[0] if lines else ""


def place_of(problem, files):
    """"mine.py:12: " for the innermost line of the user's own files ({path: name}) in the traceback."""
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        name = files.get(frame.filename)
        if name:
            return f"{name}:{frame.lineno}: "
    return ""


def is_out_of_memory(problem):
    name = name_of(problem)
    return name == "OutOfMemoryError" or isinstance(problem, MemoryError) or (
        isinstance(problem, RuntimeError)
        and ("out of memory" in str(problem) or "DefaultCPUAllocator" in str(problem)))


def _is_cuda(problem):
    return name_of(problem) == "AcceleratorError" or (
        isinstance(problem, RuntimeError) and str(problem).startswith("CUDA error"))


def _explained(problem, files, loading, main):
    place = place_of(problem, files) or main
    if isinstance(problem, Fault):
        return Fault(problem.status, f"{place}{problem}")
    if isinstance(problem, SyntaxError):
        name = files.get(problem.filename, problem.filename)
        return Fault(COMPILE, f"{name}:{problem.lineno}: {problem.msg}")
    if isinstance(problem, ModuleNotFoundError) and problem.name:
        return Fault(COMPILE, f"{place}needs the module '{problem.name}', which {sys.executable} does not have: "
                              f"{sys.executable} -m pip install {problem.name.split('.')[0]}")
    if is_out_of_memory(problem):
        what = one_line(problem).split("DefaultCPUAllocator: ")[-1]  # without the place in PyTorch's own source
        return Fault(COMPILE if loading else ERROR, f"{place}out of memory" + (f": {what}" if what else ""))
    if isinstance(problem, SystemExit):
        return Fault(COMPILE if loading else ERROR, f"{place}called sys.exit({problem.code!r})")
    if isinstance(problem, NotImplementedError) and not str(problem):
        return Fault(COMPILE if loading else ERROR, f"{place}NotImplementedError: it has no forward of its own")
    status = COMPILE if loading else CUDA if _is_cuda(problem) else ERROR
    return Fault(status, f"{place}{name_of(problem)}: {one_line(problem)}")


def explain(problem, files, loading=False):
    """A Fault for any exception; `loading`: the file was only being imported, so it is no failed call."""
    main = f"{next(iter(files.values()))}: " if loading and files else ""
    try:
        return _explained(problem, files, loading, main)
    except BaseException:  # pylint: disable=broad-except
        return Fault(COMPILE if loading else ERROR, main + unspeakable(problem))

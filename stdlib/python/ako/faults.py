"""What went wrong in a user's file, in one line: where, what, and what to do."""
import os
import sys
import traceback

from ako.hooks import CUDA, COMPILE, ERROR, Fault, name_of, unspeakable


def a(value):
    """The type of a value with its article."""
    name = name_of(value)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def said_by(problem):
    """What an exception says; None where it is the user's object, and raises another one instead."""
    try:
        return str(problem)
    except BaseException:  # pylint: disable=broad-except
        return None


def one_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
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
        and any(words in (said_by(problem) or "") for words in ("out of memory", "DefaultCPUAllocator")))


def _is_cuda(problem):
    return name_of(problem) == "AcceleratorError" or (
        isinstance(problem, RuntimeError) and (said_by(problem) or "").startswith("CUDA error"))


def _explained(problem, files, failed, main):
    place = place_of(problem, files) or main
    if isinstance(problem, Fault):
        return Fault(problem.status, f"{place}{problem}")
    if isinstance(problem, SyntaxError):
        if os.path.isabs(problem.filename or ""):
            return Fault(COMPILE, f"{files.get(problem.filename, problem.filename)}:{problem.lineno}: {problem.msg}")
        return Fault(failed, f"{place}{name_of(problem)}: {problem.msg}")  # of a text that is no file
    if isinstance(problem, ModuleNotFoundError) and problem.name:
        return Fault(COMPILE, f"{place}needs the module '{problem.name}', which {sys.executable} does not have: "
                              f"{sys.executable} -m pip install {problem.name.split('.')[0]}")
    words = said_by(problem)
    if is_out_of_memory(problem):
        what = one_line(words or "").split("DefaultCPUAllocator: ")[-1]  # without the place in PyTorch's own source
        return Fault(failed, f"{place}out of memory" + (f": {what}" if what else ""))
    if isinstance(problem, SystemExit):
        return Fault(failed, f"{place}called sys.exit({problem.code!r})")
    if words is None:
        return Fault(failed, place + unspeakable(problem))
    if isinstance(problem, NotImplementedError) and not words:
        return Fault(failed, f"{place}NotImplementedError: it has no forward of its own")
    what = name_of(problem) + (f": {one_line(words)}" if one_line(words) else "")
    return Fault(CUDA if _is_cuda(problem) and failed == ERROR else failed, f"{place}{what}")


def explain(problem, files, loading=False):
    """A Fault for any exception; `loading`: the file was only being imported, so it is no failed call."""
    is_call = issubclass(type(problem), TypeError)  # one with other arguments than a function takes is made by us
    main = f"{next(iter(files.values()))}: " if files and (loading or is_call) else ""
    failed = COMPILE if loading else ERROR
    try:
        return _explained(problem, files, failed, main)
    except BaseException:  # pylint: disable=broad-except
        return Fault(failed, main + unspeakable(problem))

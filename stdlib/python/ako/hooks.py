"""libako's hooks (core/hooks.h) as Python functions."""
import ctypes
import functools

OK, INVALID, NOTFOUND, UNAVAILABLE, NOMEM = 0, -2, -3, -5, -9
ERROR, CUDA, COMPILE, SHAPE, DTYPE = -1, -12, -16, -17, -18

ADDRESSES = ctypes.POINTER(ctypes.c_void_p)


DIMS = 16


class Returned(ctypes.Structure):
    """struct ako_returned"""
    _fields_ = [("address", ctypes.c_void_p), ("element", ctypes.c_int64), ("n_dims", ctypes.c_int64),
                ("size", ctypes.c_int64 * DIMS), ("stride", ctypes.c_int64 * DIMS)]


class Hooks(ctypes.Structure):
    """struct ako_hooks"""
    _fields_ = [
        ("start", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)),
        ("task", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)),
        ("extensions", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)),
        ("open", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)),
        ("bind", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)),
        ("variant", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)),
        ("fill", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_int, ctypes.c_int, ctypes.c_double,
                                  ADDRESSES)),
        ("stage", ctypes.CFUNCTYPE(ctypes.c_int, ADDRESSES)),
        ("launch", ctypes.CFUNCTYPE(ctypes.c_int)),
        ("release", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)),
        ("describe", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)),
        ("autotuned", ctypes.CFUNCTYPE(ctypes.c_void_p)),
        ("returned", ctypes.POINTER(Returned)),
        ("n_returned", ctypes.c_int),
        ("first_output", ctypes.c_int),
    ]


class Library:
    """libako.so, as far as it is needed here. It keeps the interpreter's lock: while it has the turn, between the calls
    of a solution, the solution's own Python threads stand still."""

    def __init__(self, path):
        self.c = ctypes.PyDLL(path)
        self.c.ako_role_run.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(Hooks)]
        self.c.ako_fail_text.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p]

    def confine_compiler(self, folder):
        """From here on this process, and what it starts, can write below the folder alone."""
        return self.c.ako_confine_compiler(folder.encode())

    def fail(self, status, text):
        return self.c.ako_fail_text(status, b"python", text.encode("utf-8", "replace")[:1000])


class Fault(Exception):
    """What a hook fails with: a status and one line."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def _explained(explain, problem):
    """Status and text. An exception is the user's object: it may raise another one where it is asked what it says."""
    try:
        fault = problem if isinstance(problem, Fault) else explain(problem)
        return fault.status, str(fault)
    except BaseException:  # pylint: disable=broad-except
        return ERROR, f"{type(problem).__name__}, of which nothing more can be said"


def guarded(library, explain, function, on_failure=None):
    """`function` as a hook: nothing that is raised in it leaves it, for whoever called would take that for a success.
    `explain(exception)` makes a Fault of it."""
    @functools.wraps(function)
    def hook(*args):
        try:
            result = function(*args)
            return OK if result is None else result
        except BaseException as problem:  # pylint: disable=broad-except
            status = library.fail(*_explained(explain, problem))
        return status if on_failure is None else on_failure()
    return hook

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


def _hook(*arguments):
    return ctypes.CFUNCTYPE(None, *arguments)


class Hooks(ctypes.Structure):
    """struct ako_hooks"""
    _fields_ = [
        ("start", _hook(ctypes.c_int)),
        ("task", _hook(ctypes.c_char_p)),
        ("extensions", _hook(ctypes.c_char_p)),
        ("open", _hook(ctypes.c_char_p)),
        ("bind", _hook(ctypes.c_char_p)),
        ("variant", _hook(ctypes.c_char_p)),
        ("fill", _hook(ctypes.c_int64, ctypes.c_int, ctypes.c_int, ctypes.c_double, ADDRESSES)),
        ("stage", _hook(ADDRESSES)),
        ("launch", _hook()),
        ("release", _hook(ctypes.c_int)),
        ("describe", _hook(ctypes.c_char_p, ctypes.c_char_p)),
        ("autotuned", _hook()),
        ("returned", ctypes.POINTER(Returned)),
        ("n_returned", ctypes.c_int),
        ("first_output", ctypes.c_int),
        ("status", ctypes.c_int),
        ("text", ctypes.c_char_p),
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
        return self.c.ako_fail_text(status, b"python", str.encode(text, "utf-8", "replace")[:1000])


class Fault(Exception):
    """What a hook fails with: a status and one line."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def name_of(problem, get=type.__dict__["__name__"].__get__, plain=str.__str__):
    """Of an exception's class, which is the user's: a metaclass can have a __name__ that raises."""
    return plain(get(type(problem)))


def unspeakable(problem):
    """One line for an exception that raises another one where it is asked what it says, or what it is."""
    return f"{name_of(problem)}, of which nothing more can be said"


def _fail(library, explain, problem):
    """Its status."""
    try:
        fault = problem if issubclass(type(problem), Fault) else explain(problem)
        return library.fail(fault.status, str(fault))
    except BaseException:  # pylint: disable=broad-except
        return library.fail(ERROR, unspeakable(problem))


def guarded(hooks, library, explain, function):
    """`function` as a hook, which says itself how it has ended: `explain(exception)` makes a Fault of what is raised.
    Should anything leave it all the same, it has said nothing, and that is a failure, too (core/hooks.h)."""
    @functools.wraps(function)
    def hook(*args):
        try:
            function(*args)
            hooks.status = OK
        except BaseException as problem:  # pylint: disable=broad-except
            hooks.status = _fail(library, explain, problem)
    return hook

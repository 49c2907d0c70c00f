"""The roles that run Python code, by name."""
import ctypes

from ako.candidate import Candidate
from ako.hooks import Library
from ako.referee import Referee


def run(path, role, channel):
    """Serves the role until the evaluator is gone; returns the process's exit code."""
    library = Library(path)
    side = Candidate() if role == "candidate" else Referee()
    side.make_hooks(library)
    return library.c.ako_role_run(role.encode(), channel, ctypes.byref(side.hooks))

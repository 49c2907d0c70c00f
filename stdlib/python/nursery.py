"""Imports PyTorch once, then forks the Python referees and candidates of an evaluator (core/worker/nursery.c).

usage: nursery.py LIBAKO CHANNEL. ako-worker starts it; there is nothing to do with it by hand.
"""
import ctypes
import functools
import importlib
import json
import os
import select
import socket
import sys
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, SIGKILL = 1, 4, 9


def why_not_torch():
    """Imports it; says what to do where it cannot be."""
    try:
        import torch
        import torch.nn  # noqa: F401
        return None
    except Exception as problem:  # pylint: disable=broad-except
        return (f"{sys.executable} cannot import PyTorch ({problem}): {sys.executable} -m pip install torch, "
                "or name another interpreter with --python or AKO_PYTHON")


# What Triton asks of itself and the machine in every process before it compiles a kernel, and then remembers, in forks
# too: for one a hash of all that it consists of, hundreds of megabytes. Where that lies depends on its age.
REMEMBERED_BY_TRITON = (
    ("triton.runtime.cache", "triton_key"), ("triton.compiler.compiler", "triton_key"),
    ("triton.runtime.build", "platform_key"), ("triton.backends.nvidia.driver", "platform_key"),
    ("triton.backends.nvidia.driver", "library_dirs"),
)


def call_if_there(module, name):
    """A function without arguments."""
    getattr(sys.modules.get(module), name, lambda: None)()


def fill_triton_cache():
    """With what Triton compiles for itself in every process, for candidates to copy. It asks CUDA for that, after which
    a process can no longer be forked: so another one does it, and whether it could is seen by what is there."""
    if "triton" not in sys.modules:
        return
    pid = os.fork()
    if pid == 0:
        try:
            from triton.runtime import driver
            driver.active.utils  # pylint: disable=pointless-statement
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def import_extensions():
    """What has load_inline. When it is imported it asks CUDA whether there is a GPU, for the sake of a warning; after
    that a process can no longer be forked, so here nobody is asked."""
    import torch.cuda
    asks, torch.cuda.is_available = torch.cuda.is_available, lambda: True
    try:
        importlib.import_module("torch.utils.cpp_extension")
    finally:
        torch.cuda.is_available = asks


# What solutions are likely to need and takes long, a step at a time.
IN_ADVANCE = [
    functools.partial(importlib.import_module, "triton.language"),
    *(functools.partial(call_if_there, *one) for one in REMEMBERED_BY_TRITON),
    fill_triton_cache,
    functools.partial(importlib.import_module, "triton.experimental.gluon.nvidia.hopper"),  # at a first call of a kernel
    import_extensions,
]


def work_ahead(steps, channel):
    """Takes one of the steps after the other while nobody waits for a fork."""
    while steps and not select.select([channel], [], [], 0)[0]:
        step = steps.pop(0)
        try:
            step()
        except Exception:  # pylint: disable=broad-except
            pass  # what is not there, or broken, says so to whoever needs it


def receive(channel):
    """The next request and the descriptor that came with it; None when the evaluator is gone."""
    data, fds = b"", []
    while not data.endswith(b"\n"):
        piece, more, _, _ = socket.recv_fds(channel, 1 << 16, 4)
        if not piece:
            return None, None
        data += piece
        fds += more
    return json.loads(data), fds[0] if fds else -1


def answer(channel, request, **members):
    channel.sendall(json.dumps({"id": request["id"], **members}).encode() + b"\n")


def see_devices(names):
    """The evaluator's GPU and no other: which one that is, it may not have known when this process was started."""
    if names is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = names


def become(request, channel, parent, evaluator, library):
    """In the new process: everything that an exec would have done, then the role, which does not return."""
    role, folder = request["role"], request["folder"]
    os.setsid()
    while os.getppid() == parent:  # it ends at once, and the evaluator, if it is still there, adopts what it leaves
        time.sleep(0.0002)
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    if os.getppid() != evaluator:
        os._exit(127)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    keep = os.dup2(channel, 3) if channel != 3 else 3
    os.closerange(4, 65536)
    os.set_inheritable(keep, False)
    if role == "candidate":
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        os.chdir(folder)
        os.environ["TMPDIR"] = folder
    see_devices(request.get("devices"))
    tempfile.tempdir = None  # found anew, in the folder of this process
    from ako import worker
    sys.path.remove(FOLDER)  # what is imported from here on is the user's
    os._exit(worker.run(library, role, keep))


def fork_if_possible():
    """-1 without memory, or processes, for one more."""
    try:
        return os.fork()
    except OSError:
        return -1


def fork(request, channel, library):
    """A process that is not our child: returns its pid; 0 where none could be made."""
    evaluator = os.getppid()
    reader, writer = os.pipe()
    between = fork_if_possible()
    if between == 0:
        try:
            parent, pid = os.getpid(), fork_if_possible()
            if pid == 0:
                become(request, channel, parent, evaluator, library)
            os.write(writer, str(max(pid, 0)).encode())
        finally:
            os._exit(1)
    os.close(writer)
    pid = int(os.read(reader, 32) or 0)
    os.close(reader)
    if between > 0:
        os.waitpid(between, 0)
    return pid


def main():
    library, fd = sys.argv[1], int(sys.argv[2])
    channel = socket.socket(fileno=fd)
    os.environ["TRITON_CACHE_DIR"] = os.environ["AKO_TRITON_SEED"] = os.path.join(os.getcwd(), "triton")
    problem = why_not_torch()
    ctypes.CDLL(library).ako_confine_memory()
    steps = list(IN_ADVANCE) if not problem and os.path.exists("/dev/nvidiactl") else []
    while True:
        request, other = receive(channel)
        if request is None:
            return
        pid = 0 if problem else fork(request, other, library)
        if pid:
            answer(channel, request, ok=True, pid=pid)
        else:
            answer(channel, request, ok=False, code="UNAVAILABLE", error=problem or
                   f"{sys.executable}: no memory, or no process, is left for one more")
        if other >= 0:
            os.close(other)
        work_ahead(steps, channel)


if __name__ == "__main__":
    main()

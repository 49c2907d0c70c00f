"""Inputs that take long to draw: kept on the host, from where they come back a hundred times faster, and drawn ahead,
each seed's by a process of its own: the generators are one a process, so threads would draw other numbers. Such a
process is a fork that leaves the card alone; what it draws lies in memory that both have. Where one fails, its seed is
drawn when it is asked for, which says why."""
import ctypes
import mmap
import os
import signal
import time

import torch

from ako import trees

_SLOW_S = 0.2  # a draw that takes longer is worth processes that draw others ahead
_PATIENCE = 5  # times as long as that draw took, one may take beside others
_KEPT = 4  # a share of the host's memory for what is kept is one in so many; drawing takes as much again
_POLL_S = 0.001
_PR_SET_PDEATHSIG = 1


def _host_memory():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _shared(node):
    """A flat tensor for an input's elements, gaps included, in memory that a fork shares."""
    return torch.frombuffer(mmap.mmap(-1, node["bytes"]), dtype=trees.TYPES[node["dtype"]])


def on_host(tensor):
    """The same tensor there, strides, gaps and overlaps included."""
    flat = tensor.as_strided((trees.storage_elements(tensor),), (1,))
    return flat.cpu().as_strided(tensor.shape, tensor.stride())


def is_like(tensor, node):
    """Whether a tensor looks as the facts of an input say (ako.facts)."""
    return [list(tensor.shape), list(tensor.stride()), trees.DTYPES[tensor.dtype]] == [
        node["shape"], node["stride"], node["dtype"]]


def _fill(places, nodes, tensors):
    if len(tensors) != len(nodes) or not all(map(is_like, tensors, nodes)):
        return False
    for place, tensor in zip(places, tensors):
        place.copy_(tensor.as_strided((place.numel(),), (1,)))
    return True


def _in_fork(run):
    """Pid of a process in which run() tells whether it has come to a good end."""
    parent, pid = os.getpid(), os.fork()
    if pid > 0:
        return pid
    done = False
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        torch.set_num_threads(1)  # those that parallel operations had before the fork are not there any more
        done = os.getppid() == parent and run()
    finally:
        os._exit(0 if done else 1)


def _await(pid, deadline):
    """Whether a process comes to a good end in time."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status == 0
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_S)


def _size_of(tensors):
    return sum(trees.storage_elements(tensor) * tensor.element_size() for tensor in tensors)


class Draws:
    """Inputs by their keys, each of which stands for a case and a seed, as lists of tensors."""

    def __init__(self):
        self.kept, self.running, self.bytes = {}, {}, 0

    def _has_room(self, size):
        """For one more of such a size, which those under way have too."""
        return self.bytes + size * (1 + len(self.running)) <= _host_memory() // _KEPT

    def _put(self, key, tensors):
        self.kept[key] = tensors
        self.bytes += _size_of(tensors)

    def keep(self, key, tensors):
        if self._has_room(_size_of(tensors)):
            self._put(key, [on_host(tensor) for tensor in tensors])

    def begin(self, keys, nodes, draw, took_s):
        """Has draw(key), which gives tensors on the host, called for each by a process of its own, if that is worth
        it: where one call took so long. `nodes`: the facts of such tensors (ako.facts)."""
        deadline = time.monotonic() + _PATIENCE * took_s
        for key in keys[:os.cpu_count()] if took_s > _SLOW_S else []:
            if not self._has_room(sum(node["bytes"] for node in nodes)):
                return
            try:
                self._start(key, nodes, draw, deadline)
            except OSError:  # no memory, or no process more
                return

    def _start(self, key, nodes, draw, deadline):
        places = [_shared(node) for node in nodes]
        pid = _in_fork(lambda: _fill(places, nodes, draw(key)))
        self.running[key] = pid, deadline, [place.as_strided(node["shape"], node["stride"])
                                             for place, node in zip(places, nodes)]

    def _finish(self, key):
        pid, deadline, tensors = self.running.pop(key)
        if _await(pid, deadline):
            self._put(key, tensors)

    def find(self, key):
        """A key's, once they are there; None for one that has to be drawn."""
        if key in self.running:
            self._finish(key)
        return self.kept.get(key)

    def finish(self):
        """Returns when nobody draws any more."""
        for key in list(self.running):
            self._finish(key)

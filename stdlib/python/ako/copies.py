"""A file that forks while it is imported goes on twice: the copy would answer questions that the first has answered."""
import os
import select

from ako.hooks import INVALID, Fault

_PATIENCE_S = 1.0  # for a copy to come back; workers of a pool never do


class Watch:
    """Of what is done from its beginning to `check`."""

    def __init__(self):
        self.pid, self.forks = os.getpid(), 0
        self.reader, self.writer = os.pipe()
        os.register_at_fork(after_in_parent=self.count)

    def count(self):
        self.forks += 1

    def check(self):
        """Ends a copy that has come back, which in the first process is a Fault."""
        if os.getpid() != self.pid:
            os.write(self.writer, b".")
            os._exit(1)
        came_back = self.forks and select.select([self.reader], [], [], _PATIENCE_S)[0]
        os.close(self.reader)
        os.close(self.writer)
        if came_back:
            raise Fault(INVALID, "forks while it is imported, and the copy goes on as this process does: let it end "
                                 "(os._exit), or fork nothing")

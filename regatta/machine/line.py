"""The line between the lab and a program: `ready`, `go` and `done`, word by word.

It is one end of a socket pair that the program inherits. Where a program cannot inherit one, its
place has a line of another kind, with the same functions.
"""

from __future__ import annotations

import select
import socket
import time
from types import TracebackType


def readable(fd: int, deadline: float) -> bool:
    """Waits until the descriptor is readable (a process: has exited)."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))


class Line:
    """Use it in a `with` statement, which closes it."""

    def __init__(self) -> None:
        self.near, self.far = socket.socketpair()

    @property
    def number(self) -> int:
        """The program's descriptor."""
        return self.far.fileno()

    @property
    def inherited(self) -> tuple[int, ...]:
        """The descriptors that the program must be started with."""
        return (self.far.fileno(),)

    def started(self) -> None:
        """The program has its end: the line now breaks when it ends."""
        self.far.close()

    def answered(self, deadline: float, starter: int) -> socket.socket:
        """The lab's end, once the program has the other.

        `starter`: the process that starts it. TimeoutError after the deadline, EOFError if the
        starter has ended before.
        """
        del deadline, starter
        return self.near

    def say(self, words: str) -> None:
        """To a program that has answered. BrokenPipeError if it has ended."""
        self.near.sendall(f"{words}\n".encode())

    def close(self) -> None:
        self.far.close()
        self.near.close()

    def __enter__(self) -> Line:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

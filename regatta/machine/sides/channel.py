"""The channel between the lab and a program, for lines such as `ready`, `go` and `done`.

A socket pair, of which the program inherits one end. A program in a container cannot inherit it:
containers/channel.py replaces it there.
"""

from __future__ import annotations

import select
import socket
import time
from types import TracebackType


def readable(fd: int, deadline: float) -> bool:
    """Waits until the descriptor is readable; for a pidfd, until the process has exited."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))


class Channel:
    """Use it in a `with` statement."""

    def __init__(self) -> None:
        self.near, self.far = socket.socketpair()

    @property
    def number(self) -> int:
        """The program's end, as a descriptor number."""
        return self.far.fileno()

    @property
    def inherited(self) -> tuple[int, ...]:
        """The descriptors that the program must inherit."""
        return (self.far.fileno(),)

    def started(self) -> None:
        """Closes our copy of the program's end, so that the program's exit closes the channel."""
        self.far.close()

    def wait_connected(self, deadline: float, starter: int) -> socket.socket:
        """The lab's end, once the program is connected.

        `starter`: the process that starts the program. TimeoutError after the deadline, EOFError
        if the starter ends before the program connects.
        """
        del deadline, starter
        return self.near

    def say(self, words: str) -> None:
        """Sends a line to a connected program. BrokenPipeError if it has ended."""
        self.near.sendall(f"{words}\n".encode())

    def close(self) -> None:
        self.far.close()
        self.near.close()

    def __enter__(self) -> Channel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

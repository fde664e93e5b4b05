"""The channel to a program in a container: a socket in a folder that is mounted there.

`regatta-dial`, mounted with the program, connects to it, makes the connection descriptor 3 and
execs the program.
"""

from __future__ import annotations

import os
import select
import socket
import time
from contextlib import suppress
from pathlib import Path

from regatta.machine.sides.channel import Channel

NUMBER = 3  # src/programs/regatta_dial.c


class DialledChannel(Channel):
    """A channel that regatta-dial opens from within the container."""

    def __init__(self, folder: Path, name: str, dial: Path) -> None:
        self.path = folder / f"{name}.channel"
        self.dial = dial
        self.connected: socket.socket | None = None
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.path.unlink(missing_ok=True)
        # Through the folder's descriptor, as a socket's path may have at most 107 bytes.
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self.listener.bind(f"/proc/self/fd/{opened}/{self.path.name}")
            self.listener.listen(1)
        except BaseException:
            self.listener.close()
            raise
        finally:
            os.close(opened)

    @property
    def number(self) -> int:
        return NUMBER

    @property
    def inherited(self) -> tuple[int, ...]:
        return ()

    def started(self) -> None:
        """Nothing to close: the program connects by itself."""

    def before(self, program: list[str]) -> list[str]:
        """The program, with its end of the line."""
        return [str(self.dial), self.path.name, *program]

    def wait_connected(self, deadline: float, starter: int) -> socket.socket:
        if self.connected is not None:
            return self.connected
        starter_fd = os.pidfd_open(starter)
        try:
            poll = select.poll()
            poll.register(self.listener, select.POLLIN)
            poll.register(starter_fd, select.POLLIN)
            ready = {fd for fd, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1000)}
        finally:
            os.close(starter_fd)
        if self.listener.fileno() in ready:
            self.connected, _ = self.listener.accept()
            return self.connected
        raise EOFError if ready else TimeoutError

    def say(self, words: str) -> None:
        assert self.connected
        self.connected.sendall(f"{words}\n".encode())

    def close(self) -> None:
        self.listener.close()
        if self.connected is not None:
            self.connected.close()
        with suppress(OSError):
            self.path.unlink()

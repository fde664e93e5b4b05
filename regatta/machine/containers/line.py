"""The line to a program in a container: a socket in a folder that both sides see.

`regatta-dial`, mounted beside the program, connects to it, hands it on as descriptor 3 and becomes
the program.
"""

from __future__ import annotations

import os
import select
import socket
import time
from contextlib import suppress
from pathlib import Path

from regatta.machine.line import Line

NUMBER = 3  # src/programs/regatta_dial.c


class DialledLine(Line):
    """A line that the program opens."""

    def __init__(self, folder: Path, name: str, dial: Path) -> None:
        self.path = folder / f"{name}.line"
        self.dial = dial
        self.connected: socket.socket | None = None
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.path.unlink(missing_ok=True)
        # By way of the folder's descriptor: a socket's own path may have only 107 letters.
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
        """The program will dial by itself."""

    def before(self, program: list[str]) -> list[str]:
        """The program, with its end of the line."""
        return [str(self.dial), self.path.name, *program]

    def answered(self, deadline: float, starter: int) -> socket.socket:
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

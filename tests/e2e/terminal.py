"""Run a program in a pseudo-terminal with a terminal emulator that tests can read."""

import contextlib
import copy
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyte

from tests.servers import PATIENCE_S

ALTERNATE = 1049
"""Private mode number of the alternate screen."""


class Emulated(pyte.Screen):
    """pyte's screen plus an alternate screen."""

    def __init__(self, columns: int, lines: int) -> None:
        self.main: Any = None
        super().__init__(columns, lines)

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        if kwargs.get("private") and ALTERNATE in modes:
            self.main = (copy.deepcopy(dict(self.buffer)), copy.copy(self.cursor))
        super().set_mode(*modes, **kwargs)

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and ALTERNATE in modes and self.main is not None:
            hidden = self.cursor.hidden
            buffer, self.cursor = self.main
            self.cursor.hidden = hidden
            self.buffer.clear()
            self.buffer.update(buffer)
            self.main = None


class Terminal:
    """A program in its terminal."""

    def __init__(
        self, arguments: list[str], columns: int, lines: int, environment: Mapping[str, str]
    ) -> None:
        self.raw = b""
        self.status: int | None = None
        self.screen = Emulated(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._fd, slave = pty.openpty()
        self.resize(columns, lines)
        self.modes_before = self.modes()
        self.pid = os.fork()
        if self.pid == 0:
            _login(slave)
            for number in range(1, signal.NSIG):
                with contextlib.suppress(OSError, ValueError):
                    signal.signal(number, signal.SIG_DFL)
            os.execve(arguments[0], arguments, {**os.environ, **environment})
        self._slave = slave  # stays open, so that its modes outlive the program

    def resize(self, columns: int, lines: int) -> None:
        """Resizes the window, which sends SIGWINCH."""
        self.screen.resize(lines, columns)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self._fd)

    def press(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def kill(self, number: int) -> None:
        os.kill(self.pid, number)

    def pump(self, wait_s: float = 0.05) -> bool:
        """Reads and interprets pending output, or a part of it; whether there was any."""
        if not select.select([self._fd], [], [], wait_s)[0]:
            return False
        piece = b""
        with contextlib.suppress(OSError):
            piece = os.read(self._fd, 65536)
            self.raw += piece
            self._stream.feed(piece)
        return piece != b""

    @property
    def lines(self) -> list[str]:
        return list(self.screen.display)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def until(self, what: str | Callable[[], bool]) -> str:
        """Waits until the screen has this text or satisfies the condition. Returns the screen."""
        deadline = time.monotonic() + PATIENCE_S
        while not (what in self.text if isinstance(what, str) else what()):
            assert time.monotonic() < deadline, f"not on the screen: {what!r}\n{self.text}"
            self.pump()
        return self.text

    def end(self) -> int:
        """Waits for the end. Returns the exit status, or minus the signal number."""
        deadline = time.monotonic() + PATIENCE_S
        while self.status is None:
            assert time.monotonic() < deadline, f"the program does not end\n{self.text}"
            self.pump()
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.status = os.waitstatus_to_exitcode(status)
        while self.pump():  # a read returns 4 KiB at most
            pass
        return self.status

    def close(self) -> None:
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._slave)
        os.close(self._fd)


def _login(slave: int) -> None:
    """Makes the terminal the controlling terminal of a new session."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for descriptor in range(3):
        os.dup2(slave, descriptor)


@contextlib.contextmanager
def in_terminal(
    *arguments: str, columns: int = 100, lines: int = 24, **environment: str
) -> Iterator[Terminal]:
    """Runs a program in a terminal until the end of the block at the latest."""
    settings = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment}
    terminal = Terminal(list(arguments), columns, lines, settings)
    try:
        yield terminal
    finally:
        terminal.close()

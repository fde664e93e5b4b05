"""Runs what a student would type: a server until Ctrl-C, and its clients."""

import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

from regatta.errors import RegattaError
from regatta.measure.places.side import read_line
from regatta.measure.processes import Warden, guard_environment
from regatta.teach.lab.step import CTRL_C, Typed
from regatta.teach.lab.tools import HOST, PORT

READY_S, STOP_S, ANSWER_S = 20.0, 20.0, 60.0
# perf dies of the signal after its child has exited; a shell reports that as 128 + SIGINT.
EXPECTED_STATUS = (0, -signal.SIGINT, 128 + signal.SIGINT)
SERVER, SILENT = 1, 3
"""Terminals; the clients of the others end by themselves."""
ADDRESS = re.compile(rf"(?<={re.escape(HOST)}.){PORT}\b")
BEFORE_LISTEN = "--no-recorder"


def run_typed(commands: Sequence[Typed]) -> None:
    """The server listens on any free port: one of the student's may hold the default one."""
    with ExitStack() as all_:
        opened: dict[int, ExitStack] = {}
        port = PORT
        for typed in commands:
            if typed.line == CTRL_C:
                opened.pop(typed.terminal).close()
            elif typed.terminal not in (SERVER, SILENT):
                ask(ADDRESS.sub(str(port), typed.line))
            else:
                stack = opened[typed.terminal] = all_.enter_context(ExitStack())
                if typed.terminal == SERVER:
                    port = stack.enter_context(serving(typed.line))
                else:
                    stack.enter_context(socket.create_connection((HOST, port)))


@contextmanager
def started(
    line: str, fds: Sequence[int] = ()
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """A shell's line in a process group of its own, killed at the end, and what it prints."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            ["bash", "-c", line],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=guard_environment(),
            pass_fds=fds,
            start_new_session=True,
        )
        warden = Warden(process.pid)
        try:
            yield process, output
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            warden.dismiss()


def ask(line: str) -> None:
    with started(line) as (process, output):
        try:
            status = process.wait(ANSWER_S)
        except subprocess.TimeoutExpired as error:
            raise RegattaError(f"no answer within {ANSWER_S:g} s: {line}") from error
        if status != 0:
            raise RegattaError(f"failed (exit {status}): {line}: {last_line(output)}")


@contextmanager
def serving(line: str) -> Iterator[int]:
    """Yields the server's port once it accepts connections. Stops it as by Ctrl-C: SIGINT to the
    whole process group."""
    with ExitStack() as stack:
        ready, ready_end = os.pipe()
        stack.callback(os.close, ready)
        options = f"{BEFORE_LISTEN} --listen {HOST}:0 --ready-fd {ready_end}"
        try:
            process, output = stack.enter_context(
                started(line.replace(BEFORE_LISTEN, options, 1), (ready_end,))
            )
        finally:
            os.close(ready_end)
        try:
            told = read_line(ready, time.monotonic() + READY_S)
        except TimeoutError as error:
            raise RegattaError(f"the server was not ready within {READY_S:g} s") from error
        except EOFError as error:
            said = last_line(output)
            raise RegattaError(f"the server exited before it was ready: {said}") from error
        yield int(told.decode().split()[1].rpartition(":")[2])
        os.killpg(process.pid, signal.SIGINT)
        try:
            if process.wait(STOP_S) not in EXPECTED_STATUS:
                raise RegattaError(f"the server failed: {last_line(output)}")
        except subprocess.TimeoutExpired as error:
            raise RegattaError(f"the server did not stop within {STOP_S:g} s of Ctrl-C") from error


def last_line(output: IO[bytes]) -> str:
    output.seek(0)
    lines = output.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")

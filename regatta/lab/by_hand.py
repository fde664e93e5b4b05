"""Runs what a person would type: a server until Ctrl-C, and a client that asks it."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from regatta.errors import RegattaError
from regatta.machine.guard import Warden, guard_environment
from regatta.machine.line import readable
from regatta.trial.program import LINE_LIMIT

READY_S, STOP_S, ANSWER_S = 20.0, 20.0, 60.0
LOCAL = "127.0.0.1"
# perf ends by the signal itself after its child has ended; a shell reports that as 128 and more.
STOPPED = (0, -signal.SIGINT, 128 + signal.SIGINT)


@contextmanager
def serving(command: Sequence[str]) -> Iterator[str]:
    """Runs a server, with or without a counter before it, and yields its address.

    It listens on any free port: a server that the person has started may hold the usual one. At
    the end it gets what Ctrl-C sends: SIGINT, to all of its terminal's group.
    """
    ready, ready_end = os.pipe()
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                [*command, "--listen", f"{LOCAL}:0", "--ready-fd", str(ready_end)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=guard_environment(),
                pass_fds=(ready_end,),
                start_new_session=True,
            )
        except OSError as error:
            os.close(ready)
            raise RegattaError(f"cannot run {command[0]}: {error.strerror}") from error
        finally:
            os.close(ready_end)
        warden = Warden(process.pid)
        try:
            yield address_from(ready, output)
            os.killpg(process.pid, signal.SIGINT)
            if process.wait(STOP_S) not in STOPPED:
                raise RegattaError(f"the server ended badly: {last_line(output)}")
        except subprocess.TimeoutExpired as error:
            raise RegattaError(f"the server did not end within {STOP_S:g} s of Ctrl-C") from error
        finally:
            os.close(ready)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            warden.dismiss()


def address_from(ready: int, output: IO[bytes]) -> str:
    """What the server says once it accepts connections."""
    deadline = time.monotonic() + READY_S
    line = b""
    while not line.endswith(b"\n"):
        if not readable(ready, deadline):
            raise RegattaError(f"the server was not ready within {READY_S:g} s")
        piece = os.read(ready, LINE_LIMIT)
        if not piece:
            raise RegattaError(f"the server ended before it was ready: {last_line(output)}")
        line += piece
    return line.decode().split()[1]


def last_line(output: IO[bytes]) -> str:
    output.seek(0)
    lines = output.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")


def asked(command: Sequence[str], stdin: str = "", may_fail: bool = False) -> str:
    """All that a program prints which asks a server."""
    try:
        done = subprocess.run(
            command,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=ANSWER_S,
            check=False,
            env=guard_environment(),
        )
    except OSError as error:
        raise RegattaError(f"cannot run {command[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise RegattaError(f"{command[0]} had no answer within {ANSWER_S:g} s") from error
    if done.returncode != 0 and not may_fail:
        lines = done.stdout.strip().splitlines() or ["it printed nothing"]
        raise RegattaError(f"{command[0]} ended with status {done.returncode}: {lines[-1]}")
    return done.stdout

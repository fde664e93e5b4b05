"""Runs the commands that a student would type: a server until Ctrl-C, and a client."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from regatta.errors import RegattaError
from regatta.measure.places.side import readable
from regatta.measure.processes import Warden, guard_environment
from regatta.measure.trial.program import LINE_LIMIT

READY_S, STOP_S, ANSWER_S = 20.0, 20.0, 60.0
LOCAL = "127.0.0.1"
# perf dies of the signal after its child has exited; a shell reports that as 128 + SIGINT.
EXPECTED_STATUS = (0, -signal.SIGINT, 128 + signal.SIGINT)


@contextmanager
def serving(command: Sequence[str]) -> Iterator[str]:
    """Runs a server, possibly under perf, and yields its address.

    It listens on any free port, because a server that the student started may hold the default
    one. It is stopped as by Ctrl-C: SIGINT to the whole process group.
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
            yield wait_for_address(ready, output)
            os.killpg(process.pid, signal.SIGINT)
            if process.wait(STOP_S) not in EXPECTED_STATUS:
                raise RegattaError(f"the server failed: {last_line(output)}")
        except subprocess.TimeoutExpired as error:
            raise RegattaError(f"the server did not stop within {STOP_S:g} s of Ctrl-C") from error
        finally:
            os.close(ready)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            warden.dismiss()


def wait_for_address(ready: int, output: IO[bytes]) -> str:
    """The address that the server reports once it accepts connections."""
    deadline = time.monotonic() + READY_S
    line = b""
    while not line.endswith(b"\n"):
        if not readable(ready, deadline):
            raise RegattaError(f"the server was not ready within {READY_S:g} s")
        piece = os.read(ready, LINE_LIMIT)
        if not piece:
            raise RegattaError(f"the server exited before it was ready: {last_line(output)}")
        line += piece
    return line.decode().split()[1]


def last_line(output: IO[bytes]) -> str:
    output.seek(0)
    lines = output.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")


def output_of(command: Sequence[str], stdin: str = "", may_fail: bool = False) -> str:
    """Everything that a client prints, errors included."""
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
        raise RegattaError(f"{command[0]} got no answer within {ANSWER_S:g} s") from error
    if done.returncode != 0 and not may_fail:
        lines = done.stdout.strip().splitlines() or ["it printed nothing"]
        raise RegattaError(f"{command[0]} failed (exit {done.returncode}): {lines[-1]}")
    return done.stdout

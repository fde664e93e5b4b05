"""A worker process pinned to one CPU."""

import json
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from regatta.errors import RegattaError
from regatta.measure.places.side import SidePlacement
from regatta.measure.processes import guard_environment, read_stat

PROGRAM = Path(__file__).with_name("worker.py")
ANSWER_TIMEOUT_S = 30
ENOUGH_NS = 5_000_000


class ProbeError(RegattaError):
    """A probe could not measure."""


class Child:
    """A context manager that kills the worker at the end."""

    def __init__(self, cpu: int) -> None:
        command = SidePlacement((), (cpu,)).command([sys.executable, "-E", "-S", str(PROGRAM)])
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=guard_environment(),
                # Only the lab handles Ctrl-C.
                start_new_session=True,
            )
        except OSError as error:
            raise ProbeError(f"a probe did not start: {error}") from error
        assert self.process.stdin and self.process.stdout  # noqa: PT018  (for the types)
        self.requests, self.answers = self.process.stdin, self.process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.requests, self.answers):
            # Closing flushes what could not be sent.
            with suppress(OSError):
                stream.close()

    def send(self, *words: object) -> None:
        try:
            self.requests.write(" ".join(map(str, words)) + "\n")
            self.requests.flush()
        except OSError as error:
            raise ProbeError("a probe exited before its request") from error

    def receive(self) -> Any:
        """The answer to the last request."""
        if not select.select([self.answers], [], [], ANSWER_TIMEOUT_S)[0]:
            raise ProbeError(f"a probe did not answer within {ANSWER_TIMEOUT_S} s")
        try:
            return json.loads(self.answers.readline())
        except ValueError as error:
            raise ProbeError("a probe exited without an answer") from error

    def ask(self, *words: object) -> Any:
        self.send(*words)
        return self.receive()

    def size(self, task: str, seconds: float) -> int:
        """The number of repetitions of the task that takes about `seconds` here."""
        count = 200
        took_ns: int
        while (took_ns := self.ask(task, count)) <= ENOUGH_NS:
            count *= 4
        return max(1, round(count * seconds * 1e9 / took_ns))


class Neighbour(Child):
    """A worker that computes forever and can be stopped and resumed."""

    def __init__(self, cpu: int) -> None:
        super().__init__(cpu)
        self.ask("busy")
        self.let(False)

    def let(self, run: bool) -> None:
        """Resumes or stops it, and waits until it has."""
        self.process.send_signal(signal.SIGCONT if run else signal.SIGSTOP)
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        while read_stat(self.process.pid).state != ("R" if run else "T"):
            if time.monotonic() > deadline:
                raise ProbeError("a probe could not be stopped and resumed")
            time.sleep(0.0005)

"""A worker in a process of its own, pinned to one CPU."""

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
from regatta.machine.guard import guard_environment
from regatta.machine.proc import read_stat
from regatta.machine.side_placement import SidePlacement

PROGRAM = Path(__file__).with_name("worker.py")
ANSWER_TIMEOUT_S = 30


class ProbeError(RegattaError):
    """A probe could not measure; the line says why."""


class Child:
    """Use it in a `with` statement: it is killed at the end."""

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
                # Ctrl-C is for the lab.
                start_new_session=True,
            )
        except OSError as error:
            raise ProbeError(f"a probe did not start: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            # What could not be said any more is still in the buffer.
            with suppress(OSError):
                if stream is not None:
                    stream.close()

    def tell(self, *words: object) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise ProbeError("a probe exited before it was asked") from error

    def hear(self) -> Any:
        """What it answers to the request before."""
        assert self.process.stdout
        if not select.select([self.process.stdout], [], [], ANSWER_TIMEOUT_S)[0]:
            raise ProbeError(f"a probe did not answer within {ANSWER_TIMEOUT_S} s")
        line = self.process.stdout.readline()
        try:
            return json.loads(line)
        except ValueError as error:
            raise ProbeError("a probe exited without an answer") from error

    def ask(self, *words: object) -> Any:
        self.tell(*words)
        return self.hear()

    def size(self, task: str, seconds: float) -> int:
        """So many of the task as take about so long here."""
        count = 200
        while True:
            took_ns: int = self.ask(task, count)["cpu_ns"]
            if took_ns > 5_000_000:
                return max(1, round(count * seconds * 1e9 / took_ns))
            count *= 4


class Neighbour(Child):
    """Somebody who computes without end on a CPU, and can be stopped for a while."""

    def __init__(self, cpu: int) -> None:
        super().__init__(cpu)
        self.ask("busy")
        self.let(False)

    def let(self, run: bool) -> None:
        """On return it runs, or does not."""
        self.process.send_signal(signal.SIGCONT if run else signal.SIGSTOP)
        wanted = {"R"} if run else {"T"}
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        while read_stat(self.process.pid).state not in wanted:
            if time.monotonic() > deadline:
                raise ProbeError("a probe could not be stopped and resumed")
            time.sleep(0.0005)

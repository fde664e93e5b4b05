"""Trace system calls and make them fail, with strace; and what came of it."""

import contextlib
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.servers import PATIENCE_S, needs
from tests.waiting import wait_until

ALWAYS = ""
LINE = re.compile(r"^(?:\d+ +)?(?:(?P<call>\w+)\(|\+\+\+ killed by (?P<signal>\w+))", re.MULTILINE)
CRASHES = {"SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS"}


@dataclass(frozen=True)
class Fault:
    """A call that fails with this error and has no effect. `when` counts the calls of each thread:
    "1" the first, "10+10" every tenth; by default all."""

    call: str
    error: str
    when: str = ALWAYS

    def __str__(self) -> str:
        return f"{self.call} {self.error} {self.when or 'always'}"

    @property
    def options(self) -> list[str]:
        when = f":when={self.when}" if self.when else ""
        inject = f"inject={self.call}:error={self.error}{when}"
        return ["-e", f"trace={self.call}", "-e", inject]


NONE = Fault("", "")
"""Traces all calls without injecting a fault."""


@dataclass(frozen=True)
class Trace:
    """The output of strace so far."""

    path: Path

    @property
    def text(self) -> str:
        return self.path.read_text(errors="replace") if self.path.exists() else ""

    @property
    def injections(self) -> int:
        return self.text.count("(INJECTED)")

    @property
    def calls(self) -> set[str]:
        return {found["call"] for found in LINE.finditer(self.text) if found["call"]}

    @property
    def crash(self) -> str | None:
        """The crash of a process, if any."""
        signals = {found["signal"] for found in LINE.finditer(self.text)} & CRASHES
        return f"it crashed: {signals}" if signals else None


def tracing(fault: Fault, trace: Trace, *more: str) -> list[str]:
    """Command prefix: strace with this fault and more options."""
    trace.path.unlink(missing_ok=True)
    options = fault.options if fault != NONE else []
    return [needs("strace"), *more, *options, "-o", str(trace.path)]


@contextlib.contextmanager
def attached(pids: list[int], folder: Path, fault: Fault) -> Iterator[Trace]:
    """Attaches to these processes and whatever they start."""
    trace, said = Trace(folder / "trace"), folder / "strace"
    each = [word for pid in pids for word in ("-p", str(pid))]
    with said.open("wb") as errors:
        tracer = subprocess.Popen(
            [*tracing(fault, trace, "-f"), *each], stderr=errors, process_group=0
        )
    try:
        # It also mentions processes that it cannot attach to, such as one that has just ended.
        wait_until(lambda: said.read_text().count("attach") >= len(pids), said.read_text)
        if f"{pids[0]}): Operation not permitted" in said.read_text():
            pytest.skip("strace may not attach to processes here")
        yield trace
    finally:
        tracer.send_signal(signal.SIGINT)  # it detaches from all
        tracer.wait(PATIENCE_S)


# Results


@dataclass(frozen=True)
class Outcome:
    fault: Fault
    injections: int
    problem: str | None
    """None: it survived."""


@dataclass
class Tally:
    kinds: int = 0
    """Pairs of call and error; the environment chooses a sample (cases.py)."""
    kinds_tried: set[tuple[str, str]] = field(default_factory=set)
    tried: int = 0
    not_reached: int = 0
    """The call was not made often enough."""
    failures: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        if outcome.injections or outcome.problem is not None:
            self.tried += 1
            self.kinds_tried.add((outcome.fault.call, outcome.fault.error))
        else:
            self.not_reached += 1
        if outcome.problem is not None:
            self.failures.append(f"{outcome.fault}: {outcome.problem}")

    def check(self) -> None:
        """Faults were injected, unless the environment chose none, and all were survived."""
        assert self.kinds > 0
        assert self.tried > 0 or self.not_reached == 0
        assert self.failures == []

    def __str__(self) -> str:
        survived = self.tried - len(self.failures)
        return (
            f"{self.tried:5} tried {survived:5} survived, {self.not_reached:4} not reached,"
            f" {len(self.kinds_tried):4} of {self.kinds:4} kinds"
        )

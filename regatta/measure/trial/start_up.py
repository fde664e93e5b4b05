"""A server's start-up time, from its exec to its first answer, and what it then has in memory.

A shell that becomes the server notes the time just before; it knows only the time of day, so a
start during which that clock is set has no figure. The client of the first answer waits on the
client's CPUs already.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from regatta.errors import RegattaError
from regatta.measure.programs import find_tool
from regatta.measure.trial import first_answer
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.side import Side
from regatta.record.cell import Cell
from regatta.record.counters import (
    BYTES,
    MEMORY_AT_REST,
    MILLISECONDS,
    START_UP,
    Counter,
    counted,
    not_supported,
)
from regatta.record.study.limits import LOOPBACK, NETNS

STARTED = "server.started"
STAMP = 'echo "$EPOCHREALTIME" >"$0" && exec "$@"'
"""In bash: other shells have no such clock."""
NS_PER_US, NS_PER_MS = 1000, 1_000_000
WAS_SET_NS = NS_PER_MS
"""A clock that moves by more against CLOCK_MONOTONIC was set."""
ANSWER_TIMEOUT_S = first_answer.PATIENCE_S + 5.0


class StartUp:
    """Use it in a `with` statement around the server's start."""

    def __init__(self, setup: TrialSetup, cell: Cell) -> None:
        self.bash = find_tool("bash")
        local = setup.placement.kind in {NETNS, LOOPBACK}
        self.client: Side | None = None
        self.ahead_ns = 0
        if setup.whole_cost and local and self.bash is not None:
            self.client = setup.side(setup.placement.client, "first-answer")
            command = [sys.executable, "-I", "-S", first_answer.__file__, request_of(cell)]
            self.client.start(command, setup.perf, (), channel_option="--fd")
            self.client.ready()

    def __enter__(self) -> StartUp:
        return self

    def __exit__(self, *_: object) -> None:
        if self.client is not None:
            self.client.leave()

    def stamped(self, command: Sequence[str]) -> list[str]:
        """The command that notes when it starts."""
        if self.client is None:
            return list(command)
        assert self.bash
        self.ahead_ns = ahead_ns()
        return [self.bash, "-c", STAMP, STARTED, *command]

    def ask(self, target: str) -> None:
        """Asks the server at this address until it answers."""
        if self.client is not None:
            self.client.say(target)

    def counters(self, server: Side) -> list[Counter]:
        """Without an answer in time they have no value; the warm-up then says why."""
        found = [not_supported(START_UP, MILLISECONDS), not_supported(MEMORY_AT_REST, BYTES)]
        if self.client is None:
            return []
        with suppress(RegattaError):
            _, _, at_ns = self.client.read_line(ANSWER_TIMEOUT_S, "answered").partition(" ")
            took_ns = int(at_ns) - (started_ns(server.folder / STARTED) - self.ahead_ns)
            found[1] = server.memory(MEMORY_AT_REST)
            if abs(ahead_ns() - self.ahead_ns) < WAS_SET_NS:
                found[0] = counted(START_UP, took_ns / NS_PER_MS, MILLISECONDS)
        return found


def ahead_ns() -> int:
    """By how much the time of day is ahead of CLOCK_MONOTONIC."""
    return time.time_ns() - time.monotonic_ns()


def started_ns(stamp: Path) -> int:
    """bash writes seconds with six digits behind the locale's decimal sign."""
    return int("".join(filter(str.isdigit, stamp.read_text()))) * NS_PER_US


def request_of(cell: Cell) -> str:
    if cell.dialect == "line":
        return f"{cell.request or f'top {cell.top}'}\n"
    path = cell.path or f"/top?n={cell.top}"
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

"""Where the time of single requests went, read from a trace of the kernel's events.

A request is found by its connection: by the client's address, which both ends know. The task that
serves it is whoever next accepts, reads or writes the server's end of the connection, or who starts
that task; so nothing has to be known of the design. A task works for this connection since it last
used another one.
"""

import heapq
import random
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from regatta.errors import TrialError
from regatta.record.recordings import (
    BLOCKED,
    ON_THE_WAY,
    QUEUED,
    RUNNABLE,
    RUNNING,
    STAGES,
    Requests,
    Slow,
    Span,
    pack_requests,
)

EVENT = np.dtype(
    [
        *(("at", "u8"), ("began", "u8"), ("socket", "u8"), ("client", "u8")),
        *(("task", "i4"), ("next", "i4"), ("length", "u4")),
        *(("cpu", "u2"), ("kind", "u1"), ("flag", "u1"), ("name", "S16")),
    ]
)
"""src/service/bpf/programs/trace.h says what they are."""
LOST, SWITCH, WAKEUP, CONNECTED, REACHED, SENT, RECEIVED, ACCEPTED = range(8)
"""Kinds of events."""

MOST_REQUESTS = 5_000
"""That are kept of a trial: the p99 has 50 of them above it."""
SLOWEST, MOST_TASKS, MOST_SPANS = 5, 16, 500
"""Requests of which a timeline is kept; its tasks, those that ran longest; spans of a task."""


@dataclass
class Task:
    """A thread: its name, and from when on it was in which state."""

    name: str = ""
    times: list[int] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    born: int = 0
    """When it was started; 0: before the trace."""
    used: list[int] = field(default_factory=list)
    """When it accepted, read or wrote the server's end of a connection."""
    used_for: list[int] = field(default_factory=list)
    """Whose."""

    def turn(self, at: int, state: str, before: str) -> None:
        """`before`: its state until then, if nothing is known of it."""
        if not self.times:
            self.times.append(0)
            self.states.append(before)
        self.times.append(at)
        self.states.append(state)

    def spans(self, start: int, end: int) -> Iterator[tuple[str, int, int]]:
        """State, from and to. A task without events ran, or it would have had some."""
        first = max(bisect_right(self.times, start) - 1, 0)
        for number in range(first, len(self.times)):
            since = max(start, self.times[number])
            until = self.times[number + 1] if number + 1 < len(self.times) else end
            if since >= end:
                return
            if min(until, end) > since:
                yield self.states[number], since, min(until, end)
        if not self.times and end > start:
            yield RUNNING, start, end

    def mine_since(self, key: int, start: int, end: int) -> int:
        """Since when it works for this connection before `end`: not before `start`."""
        number = bisect_left(self.used, end) - 1
        while number >= 0 and self.used[number] > start:
            if self.used_for[number] != key:
                return self.used[number]
            number -= 1
        return start


class Mark(NamedTuple):
    """Something that happened on a connection."""

    at: int
    by_client: bool
    kind: int
    task: int = 0
    began: int = 0
    """When the call began, if that is known."""


@dataclass
class Request:
    """All times in ns of CLOCK_MONOTONIC; 0: not seen."""

    key: int
    """The client's address, as the trace has it."""
    start: int
    reached: int = 0
    """When the server's socket had it."""
    uses: list[tuple[int, int]] = field(default_factory=list)
    """When which task accepted, read or wrote the server's end."""
    left: int = 0
    """When the last of the answer reached the client's socket."""
    end: int = 0

    @property
    def is_whole(self) -> bool:
        return bool(self.start <= self.reached and self.uses and self.end)


def in_turn(key: int, marks: list[Mark]) -> list[Request]:
    """The requests of a connection."""
    found: list[Request] = []
    for at, by_client, kind, task, began in sorted(marks):
        now = found[-1] if found else None
        if by_client and kind == SENT and (now is None or now.end):
            found.append(Request(key, at))
        elif now is None:
            continue
        elif by_client and kind == REACHED:
            now.left = at
        elif by_client and kind == RECEIVED and now.left:
            now.end = at
        elif not by_client and kind == REACHED:
            now.reached = now.reached or at
        elif not by_client:
            # The call that answers often ends when the client has asked again.
            late = kind == SENT and (not now.uses or 0 < began < now.start)
            for of in found[-2:-1] if late else [now]:
                of.uses.append((at, task))
    return found


class Trace:
    """`events`: of EVENT, in any order. `connects`: a connection's first request begins with it;
    else connections are made in advance."""

    def __init__(self, events: np.ndarray, connects: bool) -> None:
        self.tasks: dict[int, Task] = defaultdict(Task)
        self.marks: dict[int, list[Mark]] = defaultdict(list)
        connecting: dict[int, int] = {}
        on_cpu: dict[int, int] = {}
        for at, began, socket, client, task, after, length, cpu, kind, flag, name in np.sort(
            events, order="at"
        ).tolist():
            if kind == SWITCH:
                ran = on_cpu.get(cpu, task)
                if ran != task:  # the kernel has left out an event
                    self.tasks[ran].turn(at, BLOCKED, RUNNING)
                before = RUNNING if ran == task else BLOCKED
                self.tasks[task].turn(at, RUNNABLE if flag else BLOCKED, before)
                self.tasks[after].turn(at, RUNNING, BLOCKED)
                on_cpu[cpu] = after
                self.tasks[after].name = name.decode(errors="replace")
            elif kind == WAKEUP:
                if self.tasks[after].states[-1:] != [RUNNING]:
                    self.tasks[after].turn(at, RUNNABLE, BLOCKED)
                self.tasks[after].name = name.decode(errors="replace")
                self.tasks[after].born = at if flag else self.tasks[after].born
            elif kind == LOST:
                raise TrialError(f"{length} events had no room: too many requests for a trace")
            elif kind == CONNECTED:
                if connects:
                    connecting[socket] = at
            else:
                # A client's call counts from its start, a server's by its end: between is its work.
                is_asking = flag and kind == SENT
                start = connecting.pop(socket, began or at) if is_asking else at
                self.marks[client].append(Mark(start, bool(flag), kind, task, began))
                if not flag and kind != REACHED:
                    self.tasks[task].used.append(at)
                    self.tasks[task].used_for.append(client)

    def requests(self) -> Iterator[Request]:
        """Those that are seen from their start to their end."""
        for key, marks in self.marks.items():
            yield from (found for found in in_turn(key, marks) if found.is_whole)

    def stages(self, request: Request) -> Iterator[tuple[str, int, int]]:
        """Stage, from and to; in order, without gaps."""
        yield ON_THE_WAY, request.start, request.reached
        done, before = request.reached, None
        for at, by in request.uses:
            until = max(done, min(at, request.left))
            task = self.tasks[by]
            born = min(max(done, task.born), until)
            for of, start, end in ((before or task, done, born), (task, born, until)):
                mine = of.mine_since(request.key, start, end)
                for state, since, to in of.spans(start, mine):
                    yield BLOCKED if before and state == BLOCKED else QUEUED, since, to
                for state, since, to in of.spans(mine, end):
                    yield QUEUED if state == BLOCKED and not before else state, since, to
            done, before = until, task
        yield ON_THE_WAY, done, request.end

    def slow(self, request: Request) -> Slow:
        start, end = request.start, request.end

        def within(spans: Iterator[tuple[str, int, int]]) -> list[Span]:
            return [(name, since - start, to - since) for name, since, to in spans if to > since]

        def ran(spans: Sequence[Span]) -> int:
            return sum(length for state, _, length in spans if state == RUNNING)

        spans = {
            number: within(task.spans(start, end))[:MOST_SPANS]
            for number, task in self.tasks.items()
            if number and task.times
        }
        drawn = heapq.nlargest(MOST_TASKS, spans, key=lambda number: ran(spans[number]))
        names = {number: f"{self.tasks[number].name} {number}" for number in spans}
        by = dict.fromkeys(task for at, task in request.uses if at <= end)
        return Slow(
            joined(within(self.stages(request))),
            {names[number]: spans[number] for number in drawn if ran(spans[number])},
            [names[task] for task in by if task in names],
        )


def joined(spans: Sequence[Span]) -> list[Span]:
    """Neighbours of the same name as one."""
    found: list[Span] = []
    for name, start, length in spans:
        if found and found[-1][0] == name:
            found[-1] = (name, found[-1][1], found[-1][2] + length)
        else:
            found.append((name, start, length))
    return found


def traced(events: np.ndarray, connects: bool) -> bytes:
    """The requests of a trace, packed; the arguments are those of Trace."""
    trace = Trace(events, connects)
    found = list(trace.requests())
    if not found:
        raise TrialError("the trace shows no whole request")
    slowest = heapq.nlargest(SLOWEST, found, key=lambda request: request.end - request.start)
    chance = random.Random(len(found))
    kept = chance.sample(found, min(len(found), MOST_REQUESTS))
    return pack_requests(
        Requests(
            len(found),
            [spent(trace, request) for request in kept],
            [trace.slow(of) for of in slowest],
        )
    )


def spent(trace: Trace, request: Request) -> list[int]:
    of = dict.fromkeys(STAGES, 0)
    for stage, since, to in trace.stages(request):
        of[stage] += to - since
    return list(of.values())

"""What the work `classic` costs beyond `snapshot`: under every design the same, or it is not fair.

Each is measured by a fresh server under the same load, one connection at a time; what the design
costs by itself is in both. The rest is told for each process that was read: those of a pool, and
the child that serves a client, are processes too, and are read with all others
(docs/decisions.md).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from bench.loads import SERVER_CPU, Burst
from bench.rows import Goal, Row, Trial
from bench.servers import Ours, Server, Serving, serving
from bench.stand import Figures, Stand
from regatta.errors import TrialError

BEYOND = "server CPU of work classic beyond snapshot, µs for each process read"
QUESTION = b"GET /top?n=1&format=json HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n"

PEER = "iterative"
OTHERS = (
    "fork-per-client",
    "prefork-accept",
    "prefork-flock",
    "prefork-mutex",
    "prefork-fdpass",
    "thread-per-client",
    "prethread-mutex",
    "prethread-queue",
    "select",
    "poll",
    "epoll",
    "epoll-edge",
    "epoll-workers",
    "reactors",
    "uring",
    "uring-reactors",
)
SAME = Goal(1.05, down_to=0.95)


def processes_read(stand: Stand, started: Serving) -> int:
    """How many processes the server reads for a request, those of its own design among them."""
    reply = stand.ask(started.port, QUESTION) or b""
    try:
        return int(json.loads(reply.partition(b"\r\n\r\n")[2])["tasks_seen"])
    except (ValueError, KeyError) as error:
        raise TrialError("the server does not say how many processes it read") from error


@dataclass(frozen=True)
class BeyondSnapshot:
    """A client that comes when the one before has been answered, and the same again with a server
    that differs in its work alone."""

    burst: Burst = Burst(1, rounds=300)

    @property
    def name(self) -> str:
        return f"{self.burst.name}, beyond snapshot"

    def check(self) -> None:
        self.burst.check()

    def run(self, stand: Stand, server: Server, started: Serving) -> Figures:
        assert isinstance(server, Ours)
        read = processes_read(stand, started)
        worked = self.burst.run(stand, server, started)
        idle = replace(server, work="snapshot")
        with serving(stand, idle) as other:
            answered = self.burst.run(stand, idle, other)
        return {BEYOND: (worked[SERVER_CPU] - answered[SERVER_CPU]) / read}


def classic_rows() -> list[Row]:
    def trial(design: str) -> Trial:
        return Trial(Ours(design, work="classic"), BeyondSnapshot())

    def row(name: str, design: str, peer: Trial | None, goal: Goal | None) -> Row:
        return Row(f"classic beyond snapshot, {name}", "classic", BEYOND, trial(design), peer, goal)

    return [
        row(PEER, PEER, None, None),
        *(row(f"{design} / {PEER}", design, trial(PEER), SAME) for design in OTHERS),
    ]

"""The attacks, and which designs can serve other clients meanwhile."""

import math
import os
import sys
from dataclasses import dataclass

from tests.servers import ListedDesign, RunningServer, needs

LONGEST_S = 300


@dataclass(frozen=True)
class Case:
    """`command`: the attacker without the address. `held`: its connections at a time, as far as the
    server accepts them. `fewest`: with fewer of them established the attack has not taken place;
    None: 0.9 of those held."""

    name: str
    what: str
    held: int
    command: tuple[str, ...] = ()
    server_options: tuple[str, ...] = ()
    takes_all_room: bool = False
    """New clients cannot connect: only connected ones can be served."""
    fewest: int | None = None

    @property
    def fewest_attackers(self) -> int:
        return math.ceil(0.9 * self.held) if self.fewest is None else self.fewest

    def attack(self, server: RunningServer) -> list[str]:
        if self.command[0] == "slowhttptest":
            url = f"http://{server.host}:{server.port}/top?n=64&format=json"
            return [needs("slowhttptest"), *self.command[1:], "-l", str(LONGEST_S), "-u", url]
        module = [sys.executable, "-m", "tests.hostile.attackers", *self.command]
        return [*module, str(self.held), server.host, str(server.port)]

    def missing(self) -> str | None:
        """Why it is impossible here."""
        if self.command == ("vanishes",) and os.geteuid() != 0:
            return "closing a connection without FIN or RST needs root"
        return None


def slow(*options: str) -> tuple[str, ...]:
    return ("slowhttptest", *options, "-c", "1000", "-r", "5000", "-v", "0")


CASES = (
    Case("slow-heads", "1,000 heads, a header a second", 1000, slow("-H", "-i", "1", "-x", "8")),
    Case(
        "slow-readers",
        "1,000 that read one byte a second of ten large replies",
        1000,
        slow("-X", "-k", "10", "-w", "1", "-y", "2", "-n", "1", "-z", "1"),
    ),
    Case(
        "silent",
        "10,000 connections that send nothing",
        10_000,
        ("silent",),
        # By default the first would be closed before a process is forked for each of the others.
        ("--idle-timeout", "300000"),
    ),
    Case(
        "resets",
        "64 at a time that reset during the reply, without pause",
        64,
        ("resets",),
        fewest=32,  # the others are between two connections
    ),
    Case(
        "half-open",
        "1,000 a second that send half a head and disappear without FIN",
        5_000,
        ("vanishes",),
        ("--idle-timeout", "5000"),
        fewest=4_000,  # connecting takes time, and the oldest have been closed
    ),
    Case(
        "flood",
        "4,000 at a time where 1,000 are allowed; refused ones retry at once",
        4_000,
        ("silent",),
        ("--max-connections", "1000", "--idle-timeout", "300000"),
        takes_all_room=True,
        fewest=810,  # 0.9 of the room that the ordinary clients leave
    ),
    Case("pipelines", "4 connections with 1,000,000 requests each", 4, ("pipes",)),
    Case(
        "large-heads",
        "16 heads of 1 MiB at a time, without pause",
        16,
        ("heads",),
        fewest=2,  # the server refuses a head at 8 KiB
    ),
    Case(
        "never-reads", "100 that send requests without end and read nothing", 100, ("never-reads",)
    ),
)


def cannot(design: ListedDesign, case: Case) -> str | None:
    """Why the design inherently cannot serve others meanwhile; None: it can."""
    if design.serves == "one":
        return "it serves one client at a time"
    if design.serves == "workers":
        return "each client holds a worker"
    if design.name == "select" and case.held >= 1000 and not case.takes_all_room:
        return "select(2) is limited to 1,024 descriptors"
    return None

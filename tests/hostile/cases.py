"""What hostile clients do to a server, a case each, and which servers can stand it."""

import os
import sys
from dataclasses import dataclass

from tests.servers import ListedDesign, RunningServer, needs

LONGEST_S = 300


@dataclass(frozen=True)
class Case:
    """`command`: of the attacker, without the address. `held`: connections that it has at a time,
    if the server lets it have them."""

    name: str
    what: str
    held: int
    command: tuple[str, ...] = ()
    server_options: tuple[str, ...] = ()
    takes_all_room: bool = False
    """No client can be connected any more: it is about those who are."""

    def attack(self, server: RunningServer) -> list[str]:
        if self.command[0] == "slowhttptest":
            url = f"http://{server.host}:{server.port}/top?n=64&format=json"
            return [needs("slowhttptest"), *self.command[1:], "-l", str(LONGEST_S), "-u", url]
        module = [sys.executable, "-m", "tests.hostile.attackers", *self.command]
        return [*module, str(self.held), server.host, str(server.port)]

    def missing(self) -> str | None:
        """Why it cannot be tried here."""
        if self.command == ("vanishes",) and os.geteuid() != 0:
            return "to close a connection without a word to the other side needs root"
        return None


def slow(*options: str) -> tuple[str, ...]:
    return ("slowhttptest", *options, "-c", "1000", "-r", "5000", "-v", "0")


CASES = (
    Case("slow-heads", "1,000 heads, a header a second", 1000, slow("-H", "-i", "1", "-x", "8")),
    Case(
        "slow-readers",
        "1,000 that take a byte a second of ten large replies",
        1000,
        slow("-X", "-k", "10", "-w", "1", "-y", "2", "-n", "1", "-z", "1"),
    ),
    Case("silent", "10,000 connections that say nothing", 10_000, ("silent",)),
    Case("resets", "64 at a time that reset in mid-reply, without a pause", 64, ("resets",)),
    Case(
        "half-open",
        "1,000 a second that send half a head and are gone without an end",
        5_000,
        ("vanishes",),
        ("--idle-timeout", "5000"),
    ),
    Case(
        "flood",
        "4,000 at a time where 1,000 are allowed; who is refused comes again at once",
        4_000,
        ("silent",),
        ("--max-connections", "1000", "--idle-timeout", "300000"),
        takes_all_room=True,
    ),
    Case("pipelines", "4 connections with 1,000,000 requests each", 4, ("pipes",)),
    Case("large-heads", "16 heads of 1 MiB at a time, without a pause", 16, ("heads",)),
    Case("never-reads", "100 that ask without end and read nothing", 100, ("never-reads",)),
)


def cannot(design: ListedDesign, case: Case) -> str | None:
    """Why, by its nature, the design cannot serve others meanwhile; None: it can."""
    if design.serves == "one":
        return "it serves one client at a time"
    if design.serves == "workers":
        return "each client holds a worker"
    if design.name == "select" and case.held >= 1000 and not case.takes_all_room:
        return "select(2) knows 1,024 descriptors"
    return None

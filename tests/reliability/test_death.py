"""Workers killed at random while clients are served.

Only designs with worker processes: in others a crash ends the whole server."""

import contextlib
import json
import os
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import run
from tests.metrics import value
from tests.processes import children
from tests.servers import ListedDesign, RunningServer, program, runnable, running
from tests.waiting import wait_until

WITH_PROCESSES = [
    design
    for design in runnable()
    if design.name.startswith("prefork-") or design.name == "fork-per-client"
]
CLIENTS = 40
PAUSE_S = 0.1
PATIENCE_MS = 10_000
ALL_LOCKS = ("--work", "snapshot", "--max-age", "0")
"""Every request scans, and takes every lock that the processes share."""


@contextlib.contextmanager
def killing(pid: int) -> Iterator[list[int]]:
    """Kills random workers until the end of the block, and lists them."""
    victims: list[int] = []
    chance, is_over = random.Random(13), threading.Event()

    def work() -> None:
        while not is_over.wait(PAUSE_S):
            with contextlib.suppress(ProcessLookupError, IndexError):
                victim = chance.choice(children(pid))
                os.kill(victim, chance.choice([signal.SIGKILL, signal.SIGSEGV]))
                victims.append(victim)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield victims
    finally:
        is_over.set()
        thread.join()


def burst(server: RunningServer) -> tuple[int, int]:
    """Short connections with one request each. Returns numbers of requests and replies."""
    load = run(
        program("regatta-client"),
        *("--json", "--connections", CLIENTS, "--rounds", 10, "--timeout", PATIENCE_MS),
        server.address,
    )
    result = json.loads(load.stdout)
    return result["requests"], result["answered"]


@pytest.mark.parametrize("kills", [10, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("forking", WITH_PROCESSES, ids=lambda design: design.name)
def test_killed_workers_lose_only_their_own_requests(
    forking: ListedDesign, kills: int, tmp_path: Path
) -> None:
    """Afterwards the pool is complete, and the counts are right."""
    with running(tmp_path, "--design", forking.name, *ALL_LOCKS) as server:
        workers = len(children(server.process.pid))
        asked = answered = 0
        with killing(server.process.pid) as killed:
            while len(killed) < kills:
                sent, received = burst(server)
                asked, answered = asked + sent, answered + received
        # A worker with a loop may have all clients of a round.
        own = CLIENTS if forking.pool and forking.serves == "all" else 1
        assert asked - answered <= own * len(killed)

        def is_complete() -> bool:
            """The last victim may still die, with the next client."""
            pool = children(server.process.pid)
            return len(pool) == workers and not set(pool) & set(killed)

        wait_until(is_complete, "the pool is not complete again")
        looks = 0

        def is_alone() -> bool:
            """A worker may close its last client a moment after the reply."""
            nonlocal looks
            looks += 1
            return value(server, "regatta_connections_open") == 1

        wait_until(is_alone, "closed connections are still counted")
        summary = server.stop()
    # A worker counts a reply before it sends it.
    assert answered <= summary["requests"] - looks <= answered + len(killed)
    assert summary["connections"] - looks <= asked

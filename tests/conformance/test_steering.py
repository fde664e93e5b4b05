"""reactors-steered: each client is served on the CPU that its packets come to."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers import RunningServer, ask_over, running

CPUS = sorted(os.sched_getaffinity(0))[:2]
CLIENTS = 8

pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="it needs two CPUs")


@contextmanager
def on_cpu(cpus: list[int]) -> Iterator[None]:
    """This thread, whose packets to this host are received where it sends them."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def connections_of(server: RunningServer) -> list[int]:
    return [worker["connections"] for worker in server.stop()["workers"]]


def ask_from(server: RunningServer, cpu: int) -> None:
    with on_cpu([cpu]), server.connect_many(CLIENTS) as clients:
        for client in clients:
            ask_over(client)


@pytest.mark.parametrize("workers", [2, 3, 4])
def test_clients_go_to_the_workers_of_the_cpu_that_received_them(
    tmp_path: Path, workers: int
) -> None:
    design = ("--design", "reactors-steered", "--workers", str(workers), "--work", "snapshot")
    with on_cpu(CPUS), running(tmp_path, *design) as server:
        pinned = [os.sched_getaffinity(int(task.name)) for task in tasks_of(server)]
        for cpu in CPUS:
            assert pinned.count({cpu}) == len(range(CPUS.index(cpu), workers, 2))
        ask_from(server, CPUS[1])
        found = connections_of(server)
    assert sum(found[1::2]) == sum(found) == CLIENTS


def tasks_of(server: RunningServer) -> list[Path]:
    return list(Path(f"/proc/{server.process.pid}/task").iterdir())


def test_a_cpu_without_a_worker_has_them_served_elsewhere(tmp_path: Path) -> None:
    design = ("--design", "reactors-steered", "--workers", "1", "--work", "snapshot")
    with on_cpu(CPUS), running(tmp_path, *design) as server:
        ask_from(server, CPUS[1])
        assert connections_of(server) == [CLIENTS]

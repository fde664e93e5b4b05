"""A listening socket that the server was given, which all its workers share."""

from pathlib import Path

from tests.given import giving
from tests.processes import tasks
from tests.servers import ListedDesign, RunningServer, Start, rows_of

CLIENTS = 64
WORKERS = 16


def times_waited(server: RunningServer) -> int:
    """How often its processes and threads have gone to sleep so far."""
    statuses = [Path(f"/proc/{task}/status").read_text() for task in tasks(server.process.pid)]
    return sum(int(s.split("\nvoluntary_ctxt_switches:")[1].split()[0]) for s in statuses)


def test_a_client_does_not_wake_all_workers(start: Start, design: ListedDesign) -> None:
    server = start("--work", "snapshot", *design.workers(WORKERS), prefix=giving())
    assert len(rows_of(server.ask(b"top 2\n"))) == 2
    before = times_waited(server)
    for _ in range(CLIENTS):
        server.ask(b"top 2\n")
    assert times_waited(server) - before < CLIENTS * WORKERS / 2

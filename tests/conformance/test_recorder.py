"""The recorder beside every design: a reading every second, whatever the clients do."""

import time
from collections.abc import Callable
from pathlib import Path

from tests.metrics import samples
from tests.processes import wait_until_asleep
from tests.servers import PATIENCE_S, RunningServer, Start, rows_of, running
from tests.waiting import wait_until

HELD_LONG = ("--work", "snapshot", "--max-age", "86400000")
READINGS = 2  # at once, and after a second


def has_read(server: RunningServer, times: int) -> Callable[[], bool]:
    """By any source; none is named before the first."""

    def counted() -> bool:
        return sum(samples(server).get("regatta_scan_duration_seconds_count", {}).values()) >= times

    return counted


def test_it_reads_every_second_and_clients_are_answered_from_that(start: Start) -> None:
    begun = time.monotonic()
    server = start(*HELD_LONG, records=True)
    while not has_read(server, READINGS)():
        assert rows_of(server.ask(b"top 2\n"))
        assert time.monotonic() - begun < PATIENCE_S, "it does not read again"
    scans = server.stop()["scans"]
    lasted = time.monotonic() - begun
    # A client that came before the first reading was done may have taken one of its own.
    assert READINGS <= scans <= lasted + 2


def test_a_stop_does_not_wait_for_its_pause_to_end(tmp_path: Path) -> None:
    def stopped_within() -> float:
        with running(tmp_path, *HELD_LONG, records=True) as server:
            wait_until(has_read(server, 1), "it does not read at once")
            stopping = time.monotonic()
            server.stop()
            return time.monotonic() - stopping

    assert min(stopped_within() for _ in range(3)) < 0.7  # it would be 0.8, and more on a busy one


def test_without_it_only_clients_cause_readings(start: Start) -> None:
    server = start(*HELD_LONG)
    wait_until_asleep(server.process.pid)
    assert server.stop()["scans"] == 0

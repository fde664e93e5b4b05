"""The recorder beside every design: a reading every second, whatever the clients do."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.servers import Server, rows_of, running

HELD_LONG = ("--work", "snapshot", "--max-age", "86400000")
SECONDS = 1.2
READINGS = 2  # at once, and after a second


def test_it_reads_every_second_and_clients_are_answered_from_that(
    start: Callable[..., Server],
) -> None:
    server = start(*HELD_LONG, records=True)
    begun = time.monotonic()
    while time.monotonic() - begun < SECONDS:
        assert rows_of(server.ask(b"top 2\n"))
        time.sleep(0.1)
    scans = server.stop()["scans"]
    lasted = time.monotonic() - begun
    # A client that came before the first reading was done may have taken one of its own.
    assert READINGS <= scans <= lasted + 2


def test_a_stop_does_not_wait_for_its_pause_to_end(tmp_path: Path) -> None:
    def stopped_within() -> float:
        with running(tmp_path, *HELD_LONG, records=True) as server:
            time.sleep(0.2)
            stopping = time.monotonic()
            server.stop()
            return time.monotonic() - stopping

    assert min(stopped_within() for _ in range(3)) < 0.7  # it would be 0.8, and more on a busy one


def test_without_it_only_clients_cause_readings(start: Callable[..., Server]) -> None:
    server = start(*HELD_LONG)
    time.sleep(0.2)
    assert server.stop()["scans"] == 0

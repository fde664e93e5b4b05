"""The recorder beside every design: a reading every second, whatever the clients do."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.servers import Server, rows_of

HELD_LONG = ("--work", "snapshot", "--max-age", "86400000")
SECONDS = 1.5
READINGS = 2  # at once, and after a second


def test_it_reads_every_second_and_clients_are_answered_from_that(
    start: Callable[..., Server],
) -> None:
    server = start(*HELD_LONG, records=True)
    begun = time.monotonic()
    while time.monotonic() - begun < SECONDS:
        assert rows_of(server.ask(b"top 2\n"))
        time.sleep(0.1)
    stopping = time.monotonic()
    scans = server.stop()["scans"]
    lasted = time.monotonic() - begun
    assert time.monotonic() - stopping < 0.5  # in mid-pause
    # A client that came before the first reading was done may have taken one of its own.
    assert READINGS <= scans <= lasted + 2


def test_without_it_only_clients_cause_readings(start: Callable[..., Server]) -> None:
    server = start(*HELD_LONG)
    time.sleep(0.2)
    assert server.stop()["scans"] == 0

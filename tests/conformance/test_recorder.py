"""The recorder scans every second in every design, whatever the clients do."""

import time
from pathlib import Path

from tests.every_design import all_at_once
from tests.metrics import samples
from tests.processes import wait_until_asleep
from tests.servers import (
    ONE_SNAPSHOT,
    PATIENCE_S,
    SANITIZER,
    ListedDesign,
    RunningServer,
    Start,
    rows_of,
    running,
)
from tests.waiting import wait_until

SCANS = 2  # one at the start and one after a second


def scans_of(server: RunningServer) -> float:
    """Of all sources; before the first scan there is no sample."""
    return sum(samples(server).get("regatta_scan_duration_seconds_count", {}).values())


def test_it_scans_every_second_and_clients_are_answered_from_that(tmp_path: Path) -> None:
    def check(design: ListedDesign, folder: Path) -> None:
        if SANITIZER == "address" and "fork" in design.name:
            return  # a child may inherit the sanitizer's own lock from the recorder's thread
        begun = time.monotonic()
        options = ("--design", design.name, *ONE_SNAPSHOT)
        with running(folder, *options, records=True) as server:
            while scans_of(server) < SCANS:
                assert rows_of(server.ask(b"top 2\n"))
                assert time.monotonic() - begun < PATIENCE_S, "there is no second scan"
                time.sleep(0.05)
            scans = server.stop()["scans"]
        # A client that came before the end of the first scan may have caused one of its own.
        assert SCANS <= scans <= time.monotonic() - begun + 2

    all_at_once(check, tmp_path)


def test_a_stop_does_not_wait_for_the_next_scan(tmp_path: Path) -> None:
    def stopped_within() -> float:
        with running(tmp_path, *ONE_SNAPSHOT, records=True) as server:
            wait_until(lambda: scans_of(server) >= 1, "there is no scan at the start")
            stopping = time.monotonic()
            server.stop()
            return time.monotonic() - stopping

    assert min(stopped_within() for _ in range(3)) < 0.7  # otherwise 0.8 and more


def test_without_it_only_clients_cause_scans(start: Start) -> None:
    server = start(*ONE_SNAPSHOT)
    wait_until_asleep(server.process.pid)
    assert server.stop()["scans"] == 0

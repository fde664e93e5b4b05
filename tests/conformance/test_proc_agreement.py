"""Replies agree with /proc, under every design.

How each source handles names, threads and ended processes: tests/truth."""

from collections.abc import Iterator

import pytest

from tests.answers import unescape
from tests.servers import ListedDesign, RunningServer, rows_of, running
from tests.truth.proc import TICK_NS, read_all


@pytest.fixture(scope="module", params=["scan", "classic"])
def server(
    design: ListedDesign, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server that scans for each request."""
    options = ("--design", design.name, "--work", request.param, "--source", "auto")
    with running(tmp_path_factory.mktemp(design.name), *options) as started:
        yield started


def test_pids_names_and_times_agree_with_proc(server: RunningServer) -> None:
    """Times only grow: each lies between a reading before and one after."""
    before = read_all()
    rows = rows_of(server.ask(b"top 64\n"))
    after = read_all()
    assert 1 <= len(rows) <= 64
    total_ns = {row["pid"]: 1e9 * (row["user_seconds"] + row["system_seconds"]) for row in rows}
    for row in rows:
        if row["pid"] not in before or row["pid"] not in after:
            continue
        first, last = before[row["pid"]], after[row["pid"]]
        # /proc truncates user and system time to whole ticks, each separately.
        assert first.total_ns - TICK_NS <= total_ns[row["pid"]] < last.total_ns + 2 * TICK_NS
        # The name of a kworker changes with its work; kernel threads have longer names in `comm`.
        if first.name == last.name and not last.name.startswith(b"kworker"):
            assert last.name.startswith(unescape(row["name"]))
    # No process that is left out used more than the last one listed.
    left_out = (before.keys() & after.keys()) - total_ns.keys()
    assert all(before[pid].total_ns <= total_ns[rows[-1]["pid"]] + TICK_NS for pid in left_out)

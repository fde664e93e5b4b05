"""The works `wait` and `spin` use the CPU time that they promise, according to the summary."""

from pathlib import Path

import pytest

from tests.servers import read_reply, rows_of, running

MS = 1_000_000


def cpu_ns(summary: dict) -> int:
    used = summary["usage"]["serving"]["self"]
    return int(used["user_ns"] + used["system_ns"])


def test_spin_does_the_same_work_for_each_request_on_a_shared_cpu(
    tmp_path: Path,
) -> None:
    """Four at once on one CPU: a spin by wall clock would end after its time, so that four together
    would use the CPU time of one. The bounds are wide because the machine may have been busy during
    the calibration of the spin."""
    options = ("--design", "thread-per-client", "--cpus", "0", "--max-age", "60000")
    with running(tmp_path, *options, "--work", "spin=50ms") as server:
        connections = [server.connect() for _ in range(4)]
        for connection in connections:
            connection.sendall(b"top 2\n")
        for connection in connections:
            assert rows_of(read_reply(connection))
            connection.close()
        summary = server.stop()
    assert summary["work"] == "spin=50ms"
    assert 0.5 * 4 * 50 * MS <= cpu_ns(summary) <= 2 * 4 * 50 * MS


@pytest.mark.parametrize("scan", ["scan", "classic"])
def test_scan_plus_spin_does_both_for_each_request(tmp_path: Path, scan: str) -> None:
    with running(tmp_path, "--work", f"{scan}+spin=20ms") as server:
        for _ in range(4):
            assert rows_of(server.ask(b"top 2\n"))
        summary = server.stop()
    assert summary["work"] == f"{scan}+spin=20ms"
    assert summary["scans"] == 4
    assert cpu_ns(summary) >= 0.5 * 4 * 20 * MS

"""RLIMIT_NOFILE below or just above --max-connections."""

import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.metrics import value
from tests.processes import descriptors, sleepers
from tests.servers import PATIENCE_S, RunningServer, needs, program, read_reply, running
from tests.waiting import wait_until

CAP_SYS_RESOURCE = 24
LOW = 2300
"""Enough for scans to keep some, and few enough for clients to need them all."""


def may_raise_limits() -> bool:
    """Root in a container often lacks the capability."""
    status = Path("/proc/self/status").read_text()
    return bool(int(status.split("CapEff:")[1].split()[0], 16) >> CAP_SYS_RESOURCE & 1)


def test_a_descriptor_limit_below_max_connections_is_raised_or_reported() -> None:
    command = [needs("prlimit"), "--nofile=256:256", program("regatta-server"), "--quiet"]
    server = subprocess.Popen(
        [*command, "--listen", "127.0.0.1:0", "--max-connections", "1000"],
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = [line := server.stderr.readline()]
    while line and "listening on" not in line:
        lines.append(line := server.stderr.readline())
    limits = Path(f"/proc/{server.pid}/limits").read_text()
    server.terminate()
    server.communicate(timeout=PATIENCE_S)
    assert server.returncode == 0
    limit = int(limits.split("Max open files")[1].split()[0])
    if may_raise_limits():
        assert limit >= 1000
        assert not any("limit" in line for line in lines)
    else:
        assert limit == 256
        assert "the limit of open files allows 224 connections, not 1000" in lines[0]


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * LOW:
        pytest.skip(f"the test itself needs `ulimit -Hn` of {2 * LOW}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * LOW), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def kept(server: RunningServer) -> int:
    """Number of /proc files that it keeps open between scans."""
    opened = descriptors(server.process.pid).values()
    return sum(path.endswith(("/stat", "/schedstat")) for path in opened)


def connected(server: RunningServer) -> int:
    """Number of its sockets."""
    return sum(path.startswith("socket:") for path in descriptors(server.process.pid).values())


@pytest.mark.usefixtures("many_descriptors")
def test_descriptors_kept_by_scans_are_released_for_connections(tmp_path: Path) -> None:
    """All allowed connections are served, and scans continue."""
    # A thousand scans take longer than the usual idle timeout while other tests use the CPUs.
    options = ("--design", "epoll", "--work", "scan", "--idle-timeout", "300000")
    with sleepers(100), running(tmp_path, *options, descriptors=LOW) as server:
        alone = connected(server)
        wait_until(
            lambda: server.ask(b"top 1\n").startswith(b"rank") and kept(server) >= 100,
            "scans keep hardly any files open",
        )
        allowed = int(value(server, "regatta_connections_limit"))
        assert allowed > LOW / 2
        wait_until(lambda: connected(server) <= alone, "a client is still connected")
        with server.connect_many(allowed) as clients:
            for connection in clients:
                connection.sendall(b"top 1\n")
            assert all(read_reply(connection).startswith(b"rank") for connection in clients)
        errors = server.stop()["errors"]
        assert (errors["refused"], errors["accept"], errors["unavailable"]) == (0, 0, 0)

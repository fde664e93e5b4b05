"""RLIMIT_NOFILE below or just above --max-connections."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.metrics import value
from tests.processes import descriptors, sleepers
from tests.servers import RunningServer, needs, read_reply, running
from tests.waiting import wait_until

CAP_SYS_RESOURCE = 24
LOW = 2300
"""Enough for scans to keep some, and few enough for clients to need them all."""


def may_raise_limits() -> bool:
    """Root in a container often lacks the capability."""
    status = Path("/proc/self/status").read_text()
    return bool(int(status.split("CapEff:")[1].split()[0], 16) >> CAP_SYS_RESOURCE & 1)


def test_a_descriptor_limit_below_max_connections_is_raised_or_reported(tmp_path: Path) -> None:
    few = (needs("prlimit"), "--nofile=256:256")
    with running(tmp_path, "--max-connections", "1000", prefix=few) as server:
        limits = Path(f"/proc/{server.process.pid}/limits").read_text()
        server.stop()
    limit = int(limits.split("Max open files")[1].split()[0])
    if may_raise_limits():
        assert limit >= 1000
        assert "limit" not in server.stderr
    else:
        assert limit == 256
        assert "the limit of open files allows 224 connections, not 1000" in server.stderr


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
    few = (needs("prlimit"), f"--nofile={LOW}:{LOW}")
    with sleepers(100), running(tmp_path, *options, prefix=few) as server:
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

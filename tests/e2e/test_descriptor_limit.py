"""A limit on descriptors, below the connections that were asked for or not far above them."""

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
"""So many descriptors that a scan keeps some, and many clients want them all."""


def may_raise_limits() -> bool:
    """Not every root may: a container's often lacks the capability."""
    status = Path("/proc/self/status").read_text()
    return bool(int(status.split("CapEff:")[1].split()[0], 16) >> CAP_SYS_RESOURCE & 1)


def test_a_descriptor_limit_below_the_wanted_connections_is_raised_or_told() -> None:
    command = [needs("prlimit"), "--nofile=256:256", program("regatta-server"), "--quiet"]
    server = subprocess.Popen(
        [*command, "--listen", "127.0.0.1:0", "--max-connections", "1000"],
        stderr=subprocess.PIPE,
        text=True,
    )
    said = [line := server.stderr.readline()]
    while line and "listening on" not in line:
        said.append(line := server.stderr.readline())
    limits = Path(f"/proc/{server.pid}/limits").read_text()
    server.terminate()
    server.communicate(timeout=PATIENCE_S)
    assert server.returncode == 0
    limit = int(limits.split("Max open files")[1].split()[0])
    if may_raise_limits():
        assert limit >= 1000
        assert not any("limit" in line for line in said)
    else:
        assert limit == 256
        assert "the limit of open files allows 224 connections, not 1000" in said[0]


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * LOW:
        pytest.skip(f"the test itself needs `ulimit -Hn` of {2 * LOW}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * LOW), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def kept(server: RunningServer) -> int:
    """Files of /proc that it keeps open from one scan to the next."""
    opened = descriptors(server.process.pid).values()
    return sum(path.endswith(("/stat", "/schedstat")) for path in opened)


def connected(server: RunningServer) -> int:
    """Its sockets; one of a client that has left stays until that is noticed."""
    return sum(path.startswith("socket:") for path in descriptors(server.process.pid).values())


@pytest.mark.usefixtures("many_descriptors")
def test_descriptors_that_scans_keep_are_given_up_for_connections(tmp_path: Path) -> None:
    """As many as are allowed are served, and the processes are read all the while."""
    options = ("--design", "epoll", "--work", "scan")
    with sleepers(100), running(tmp_path, *options, descriptors=LOW) as server:
        alone = connected(server)
        wait_until(
            lambda: server.ask(b"top 1\n").startswith(b"rank") and kept(server) >= 100,
            "it keeps hardly anything",
        )
        allowed = int(value(server, "regatta_connections_limit"))
        assert allowed > LOW / 2
        wait_until(lambda: connected(server) <= alone, "somebody is still connected")
        with server.crowd(allowed) as crowd:
            for connection in crowd:
                connection.sendall(b"top 1\n")
            assert all(read_reply(connection).startswith(b"rank") for connection in crowd)
        errors = server.stop()["errors"]
        assert (errors["refused"], errors["accept"], errors["unavailable"]) == (0, 0, 0)

"""A descriptor limit below the connections that were asked for."""

import subprocess
from pathlib import Path

from tests.servers import PATIENCE_S, needs, program

CAP_SYS_RESOURCE = 24


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

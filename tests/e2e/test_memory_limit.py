"""A memory limit below the needs of many workers."""

from pathlib import Path

import pytest

from tests.commands import assert_refused, run
from tests.servers import SANITIZER, designs, needs, program, running

RINGS = "uring-reactors"
ROOM_KIB = 16 * 1024
"""Less than half of the rings of a thousand workers."""


def address_space_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmSize:")[1].split()[0])


@pytest.mark.skipif(SANITIZER is not None, reason="a sanitizer needs a large address space")
def test_rings_that_do_not_fit_into_memory_are_refused_with_advice(tmp_path: Path) -> None:
    if RINGS not in designs():
        pytest.skip("no io_uring here")
    with running(tmp_path, "--design", RINGS, "--workers", "1") as server:
        limit = 1024 * (address_space_kib(server.process.pid) + ROOM_KIB)
    common = ("--quiet", "--listen", "127.0.0.1:0", "--source", "procfs", "--no-recorder")
    wanted = (*common, "--design", RINGS, "--workers", "1000")
    done = run(needs("prlimit"), f"--as={limit}", program("regatta-server"), *wanted)
    assert_refused(done, status=1)
    assert f"regatta-server: {RINGS}: Cannot allocate memory; " in done.stderr
    assert "fewer --workers" in done.stderr

"""A memory limit below the needs of many workers."""

import os
from pathlib import Path

import pytest

from tests.commands import assert_refused, run
from tests.servers import SANITIZER, designs, needs, program, running
from tests.users import UNUSED_UID, as_user, runnable_by_all

RINGS = "uring-reactors"
ROOM_KIB = 16 * 1024
"""Less than half of the rings of a thousand workers."""


@pytest.mark.skipif(SANITIZER is not None, reason="a sanitizer needs a large address space")
def test_rings_that_do_not_fit_into_memory_are_refused_with_advice(tmp_path: Path) -> None:
    if RINGS not in designs():
        pytest.skip("no io_uring here")
    with running(tmp_path, "--design", RINGS, "--workers", "1") as server:
        status = Path(f"/proc/{server.process.pid}/status").read_text()
    limit = 1024 * (int(status.split("VmSize:")[1].split()[0]) + ROOM_KIB)
    common = ("--quiet", "--listen", "127.0.0.1:0", "--source", "procfs", "--no-recorder")
    wanted = (*common, "--design", RINGS, "--workers", "1000")
    done = run(needs("prlimit"), f"--as={limit}", program("regatta-server"), *wanted)
    assert_refused(done, status=1)
    assert f"regatta-server: {RINGS}: Cannot allocate memory; " in done.stderr
    assert "fewer --workers" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without privileges")
@pytest.mark.parametrize("sandbox", ["on", "off"])
@pytest.mark.parametrize(("design", "kib", "workers"), [("uring", 32, ()), (RINGS, 64, (2,))])
def test_without_locked_memory_for_its_rings_a_server_does_not_say_that_it_is_ready(
    design: str, kib: int, workers: tuple[int, ...], sandbox: str
) -> None:
    """Room for a smaller ring, or for those of fewer workers, is not enough."""
    if design not in designs():
        pytest.skip("no io_uring here")
    server = runnable_by_all(program("regatta-server"))
    done = run(
        *("timeout", "3", *as_user(UNUSED_UID)),
        *(needs("prlimit"), f"--memlock={1024 * kib}", server, "--quiet", "--source", "procfs"),
        *("--listen", "127.0.0.1:0", "--design", design, "--sandbox", sandbox),
        *(option for count in workers for option in ("--workers", str(count))),
    )
    if done.returncode == 124:
        pytest.skip("this kernel does not count a ring as locked memory")
    assert_refused(done, status=1)
    assert "listening on" not in done.stderr
    assert "ulimit -l" in done.stderr

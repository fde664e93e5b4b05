"""Restricted views: few descriptors, hidepid, pid namespaces, no BTF, no permission for BPF."""

import contextlib
import os
import time
from collections.abc import Iterator, Sequence

import pytest

from tests.commands import run
from tests.processes import descriptors
from tests.servers import needs, program
from tests.truth.proc import TICK_NS, ProcessTimes, read_all
from tests.truth.programs import CLASSIC, CannotOpenError, Scan, Scanner, living, scanning
from tests.users import as_user, runnable_by_all

NOBODY = 65534

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="mounts and other users are for root to make"
)


@contextlib.contextmanager
def scanning_or_skip(source: str, *options: str, prefix: Sequence[str] = ()) -> Iterator[Scanner]:
    try:
        with scanning(source, *options, prefix=prefix) as scanner:
            yield scanner
    except CannotOpenError as error:
        pytest.skip(f"the source {source} is not available so: {error}")


def in_own_mounts(script: str) -> list[str]:
    """Command prefix: run in a mount namespace after `script`."""
    shell = f'{script} && exec "$@"'
    return [needs("unshare"), "--mount", "sh", "-c", shell, "sh"]


HIDDEN = "mount -t proc -o hidepid=2 proc /proc"
YOUNG_NS = 5_000_000_000
NO_BTF = "mount -t tmpfs none /sys/kernel/btf"


def assert_same_as_proc(scan: Scan, before: dict[int, ProcessTimes]) -> None:
    """Same processes, same names, and times between those of two readings."""
    after = read_all()
    found = scan.by_pid()
    for pid in before.keys() & after.keys():
        early, late = before[pid], after[pid]
        if early.started_ns != late.started_ns:
            continue  # the pid was reused meanwhile
        assert found[pid].started_ns // TICK_NS == late.started_ns // TICK_NS
        assert early.total_ns - 2 * TICK_NS <= found[pid].total_ns <= late.total_ns + 2 * TICK_NS
        # A process this young may have run two programs between the readings, as `sh` does.
        is_young = late.started_ns > time.clock_gettime_ns(time.CLOCK_BOOTTIME) - YOUNG_NS
        if early.name == late.name and not is_young and b"kworker" not in late.name:
            assert found[pid].name == late.name


@pytest.mark.parametrize("most", [16, 2230])  # with 2,230, procfs keeps 15 open and no others
def test_more_processes_than_descriptors_are_all_scanned(source: str, most: int) -> None:
    few = [needs("prlimit"), f"--nofile={most}:{most}"]
    with contextlib.ExitStack() as stack:
        known = {stack.enter_context(living("wait")).pid for _ in range(60)}
        scanner = stack.enter_context(scanning_or_skip(source, prefix=few))
        for _ in range(3):
            before = read_all()
            scan = scanner.scan()
            assert scan.lost == 0
            assert known <= scan.by_pid().keys()
            assert_same_as_proc(scan, before)
        assert len(descriptors(scanner.pid)) <= most


def test_hidepid_hides_other_users_from_procfs_and_nothing_from_bpf(source: str) -> None:
    """Opened as root and scanned as nobody: hidepid depends on the reader."""
    hidden = in_own_mounts(HIDDEN)
    with scanning_or_skip(source, "--then-user", str(NOBODY), prefix=hidden) as scanner:
        before = read_all()
        found = scanner.scan().by_pid().keys()
        if source in ("procfs", CLASSIC):
            assert scanner.pid in found
            assert 1 not in found
            assert os.getpid() not in found
        else:
            assert before.keys() & read_all().keys() <= found


def test_in_a_pid_namespace_its_processes_have_their_inner_pids(source: str) -> None:
    until_sleeping = 'until read name </proc/2/comm && [ "$name" = sleep ]; do :; done'
    script = f'sleep 60 & {until_sleeping}; exec "$@"'
    prefix = [needs("unshare"), "--pid", "--fork", "--kill-child", "--mount-proc"]
    prefix += ["sh", "-c", script, "sh"]
    with scanning_or_skip(source, prefix=prefix) as scanner:
        found = scanner.scan().by_pid()
        assert {pid: process.name for pid, process in found.items()} == {
            1: b"source-scan",
            2: b"sleep",
        }


@pytest.mark.parametrize("how", ["no-btf", "nobody"])
def test_if_bpf_is_unavailable_procfs_is_used_with_a_reason(how: str) -> None:
    prefix = in_own_mounts(NO_BTF) if how == "no-btf" else as_user(NOBODY)
    with scanning("auto", prefix=prefix) as scanner:
        assert scanner.source == "procfs"
        assert len(scanner.reason.split()) >= 2
        before = read_all()
        assert_same_as_proc(scanner.scan(), before)


def test_an_unavailable_source_is_refused_and_not_replaced(source: str) -> None:
    if source in ("procfs", CLASSIC):
        pytest.skip(f"{source} is available everywhere")
    command = (*as_user(NOBODY), runnable_by_all(program("regatta-server")))
    refused = run(*command, "--source", source, "--listen", "127.0.0.1:0")
    assert refused.returncode != 0
    assert source in refused.stderr

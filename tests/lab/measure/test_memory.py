"""The most memory that a process had is what it says it took; kernel memory is as both versions of
the memory controller tell it, in made-up groups.
"""

import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from regatta.measure.accounts.cgroup import ControlGroup
from regatta.measure.accounts.memory import held
from regatta.record.counters import COUNTED, KERNEL_MEMORY, NOT_SUPPORTED, PEAK_MEMORY
from tests.lab import asked_programs
from tests.processes import sleepers

MIB = 2**20
TAKES = """
import subprocess, sys
def say(): print(flush=True)
def take(mib): return b"x" * (mib << 20)
for line in sys.stdin:
    what, _, mib = line.strip().partition(" ")
    if what == "take": del_soon = take(int(mib)); del del_soon
    if what == "child":
        kept = subprocess.Popen([sys.executable, "-c", "import sys\\n"
            f"kept = b'x' * ({mib} << 20)\\nprint(flush=True); sys.stdin.read()"],
            stdin=-1, stdout=-1)
        kept.stdout.readline()
    if what == "reap": kept.communicate()
    say()
"""


def peak_mib(pid: int) -> float:
    return held(PEAK_MEMORY, pid).value / MIB


def test_what_was_taken_for_a_moment_counts_and_is_not_added_twice() -> None:
    with asked_programs.running(TAKES) as found:
        before = peak_mib(found.pid)
        found.do("take 64")
        once = peak_mib(found.pid)
        assert 60 < once - before < 70
        found.do("take 48")
        assert once <= peak_mib(found.pid) < once + 8


def test_it_is_that_of_the_largest_of_the_processes() -> None:
    with asked_programs.running(TAKES) as found:
        found.do("child 96")
        assert 96 < peak_mib(found.pid) < 130
        found.do("reap")
        assert peak_mib(found.pid) < 60


def test_a_program_does_not_have_what_its_starter_had() -> None:
    kept = b"x" * (64 * MIB)
    with sleepers(1) as (pid,):
        assert peak_mib(pid) < 32
    assert kept


def test_one_that_has_ended_has_no_number() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    found = held(PEAK_MEMORY, process.pid)
    assert (found.state, found.value) == (NOT_SUPPORTED, None)


VERSION_1 = {
    "memory.kmem.usage_in_bytes": "40960\n",
    "memory.kmem.tcp.usage_in_bytes": "8192\n",
    "memory.stat": "cache 1\nrss 2\n",
}
VERSION_2 = {"memory.stat": "anon 5000\nkernel 45056\nkernel_stack 16384\nsock 4096\nslab 20480\n"}


def group(folder: Path, files: dict[str, str]) -> ControlGroup:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return ControlGroup(folder.parent, folder.name, ExitStack())


@pytest.mark.parametrize("files", [VERSION_1, VERSION_2])
def test_memory_of_the_kernel_and_of_sockets_buffers_is_summed(
    tmp_path: Path, files: dict[str, str]
) -> None:
    """The parts of `kernel`, such as slab, are not counted twice."""
    found = held(KERNEL_MEMORY, 0, [group(tmp_path / "side", files)])
    assert (found.value, found.unit, found.state) == (49152, "bytes", COUNTED)


@pytest.mark.parametrize(
    "files",
    [
        {},  # the controller is off
        {"memory.stat": "kernel 4096\n"},
        {"memory.stat": "kernel much\nsock 4096\n"},
        {"memory.stat": "kernel\n"},
        {"memory.kmem.usage_in_bytes": "40960\n"},  # buffers of TCP are not told
    ],
)
def test_what_a_group_does_not_tell_is_not_0(tmp_path: Path, files: dict[str, str]) -> None:
    found = held(KERNEL_MEMORY, 0, [None, group(tmp_path / "side", files)])
    assert (found.value, found.state) == (None, NOT_SUPPORTED)


def test_the_first_group_that_tells_it_counts(tmp_path: Path) -> None:
    groups = [group(tmp_path / "a", {}), group(tmp_path / "b", VERSION_1)]
    assert held(KERNEL_MEMORY, 0, groups).value == 49152

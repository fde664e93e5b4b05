"""The most memory that a process had is what it says it took; kernel memory is as both versions of
the memory controller tell it, in made-up groups.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from regatta.measure.accounts.cgroup import ControlGroup
from regatta.measure.accounts.memory import held
from regatta.record.counters import COUNTED, KERNEL_MEMORY, NOT_SUPPORTED, PEAK_MEMORY

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


class Taker:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def do(self, what: str) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "\n"

    def peak_mib(self) -> float:
        value = held(PEAK_MEMORY, self.process.pid).value
        assert value is not None
        return value / MIB


@contextmanager
def taker() -> Iterator[Taker]:
    process = subprocess.Popen(
        [sys.executable, "-c", TAKES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        found = Taker(process)
        found.do("nothing")
        yield found
    finally:
        process.kill()
        process.communicate()


def test_what_was_taken_for_a_moment_counts_and_is_not_added_twice() -> None:
    with taker() as found:
        before = found.peak_mib()
        found.do("take 64")
        once = found.peak_mib()
        assert 60 < once - before < 70
        found.do("take 48")
        assert once <= found.peak_mib() < once + 8


def test_it_is_that_of_the_largest_of_the_processes() -> None:
    with taker() as found:
        found.do("child 96")
        assert 96 < found.peak_mib() < 130
        found.do("reap")
        assert found.peak_mib() < 60


def test_a_program_does_not_have_what_its_starter_had() -> None:
    kept = b"x" * (64 * MIB)
    process = subprocess.Popen(["sleep", "60"])
    try:
        value = held(PEAK_MEMORY, process.pid).value
    finally:
        process.kill()
        process.wait()
    assert kept
    assert value is not None
    assert value < 32 * MIB


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

"""Kernel memory as both versions of the memory controller tell it, in made-up groups."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from regatta.measure.accounts.cgroup import ControlGroup
from regatta.measure.accounts.memory import kernel_memory
from regatta.record.counters import COUNTED, KERNEL_MEMORY, NOT_SUPPORTED

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
    found = kernel_memory(KERNEL_MEMORY, group(tmp_path / "side", files))
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
    found = kernel_memory(KERNEL_MEMORY, None, group(tmp_path / "side", files))
    assert (found.value, found.state) == (None, NOT_SUPPORTED)


def test_the_first_group_that_tells_it_counts(tmp_path: Path) -> None:
    groups = [group(tmp_path / "a", {}), group(tmp_path / "b", VERSION_1)]
    assert kernel_memory(KERNEL_MEMORY, *groups).value == 49152

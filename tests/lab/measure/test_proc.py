"""The files of /proc are read rightly, whatever a process calls itself."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from regatta.measure.accounts import disturbance
from regatta.measure.processes import (
    BEGAN,
    BUSY,
    BY_PROGRAMS,
    LAST_CPU,
    PARENT,
    THREADS,
    USER_TICKS,
    Stat,
    parse_cpus,
    parse_stat,
    read_stat,
)

REST = "R 7 1 1 0 -1 64 10 11 12 13 14 15 16 17 20 0 3 0 22 0 0"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"),
        (") R 9 (9) S", ") R 9 (9) S"),
        ("\x1b[2J\n", "?[2J?"),
        ("", "?"),
        ("\u202eevil", "?evil"),
    ],
)
def test_a_name_may_hold_anything(name: str, shown: str) -> None:
    found = parse_stat(f"5 ({name}) {REST}".encode())
    assert (found.name, found.state) == (shown, "R")
    assert (found[PARENT], found[USER_TICKS], found[THREADS], found[BEGAN]) == (7, 14, 3, 22)


@pytest.mark.parametrize("text", ["", "5", "5 (a)", "5 (a) R 1 2 3", f"5 (a {REST}"])
def test_a_malformed_stat_line_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a line"):
        parse_stat(text.encode())


def test_own_account_is_that_of_this_process() -> None:
    found = read_stat(os.getpid())
    assert found[PARENT] == os.getppid()
    assert found[THREADS] == len(list(Path("/proc/self/task").iterdir()))
    assert found[LAST_CPU] in range(os.cpu_count() or 1)
    assert not found.is_kernel
    assert read_stat(os.getpid(), threading.get_native_id()).state == "R"
    with pytest.raises(OSError, match="stat"):
        read_stat(2**22 + 1)


def test_columns_of_cpus_that_a_kernel_lacks_are_none() -> None:
    found = parse_cpus("cpu 9 9 9\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu12 1 2 3 4\n\nintr 5\n")
    assert found == {0: (1, 2, 3, 4, 5, 6, 7, 8), 12: (1, 2, 3, 4, 0, 0, 0, 0)}
    assert sum(found[0][column] for column in BY_PROGRAMS) == 6
    assert sum(found[0][column] for column in BUSY) == 19


@pytest.mark.parametrize("lab", [1, 2, 40])
def test_the_labs_family_is_its_own_as_any_process(
    lab: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container the lab may be process 1 or 2."""
    monkeypatch.setattr(disturbance, "read_task", reader({41: 40, 40: 2, 30: 2, 2: 1, 1: 0}))
    family = disturbance.Family(lab)
    assert family.owns(41)
    assert family.owns(lab)
    assert family.owns(30) is (lab != 40)
    assert not disturbance.Family(41).owns(1)


def reader(parents: dict[int, int]) -> Callable[[int], Stat | None]:
    return lambda pid: parse_stat(f"{pid} (a) {REST.replace('7', str(parents[pid]), 1)}".encode())

"""Control groups: what is charged to one, who may make one, and that none is left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from regatta.measure.accounts import cgroup, process_tree
from regatta.measure.accounts.cgroup import ControlGroup, Home, find_home
from tests.control_groups import is_abandoned
from tests.lab.fake_records import reading
from tests.waiting import wait_until

# A thread that ends has run a while after its process could last be told what it used.
THREADS = """
import threading, time
for _ in range(300):
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
print(time.process_time_ns())
"""


def test_a_group_is_charged_what_the_clock_of_a_process_misses(group: ControlGroup) -> None:
    command = group.entering([sys.executable, "-c", THREADS])
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    own_ns = int(run.stdout)
    assert own_ns < group.charged_ns() < 2 * own_ns


def test_a_program_that_still_runs_ends_with_its_group(group: ControlGroup) -> None:
    process = subprocess.Popen(group.entering(["sleep", "600"]))
    wait_until(lambda: process.pid in group.threads(), "it does not enter its group")
    group.close()
    assert process.wait(timeout=10) != 0
    assert not group.path.exists()


def test_a_group_is_held_until_it_is_gone(
    group: ControlGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a lab beside this one takes it for one that was left behind."""
    free = []
    remove = ControlGroup.remove

    def looked_at(closing: ControlGroup) -> bool:
        free.append(is_abandoned(closing.path))
        return remove(closing)

    monkeypatch.setattr(ControlGroup, "remove", looked_at)
    group.close()
    assert free
    assert not any(free)
    assert not group.path.exists()


def test_what_a_killed_lab_left_is_taken_away(group: ControlGroup) -> None:
    left = group.path.with_name(f"{cgroup.PREFIX}left")
    left.mkdir()
    assert find_home() is not None
    assert not left.exists()
    assert group.path.exists()


def test_a_lab_in_another_container_takes_no_group_away_that_is_in_use(group: ControlGroup) -> None:
    """Nobody there has the number of this process, and nothing runs in the group yet."""
    look = (
        "from regatta.measure.accounts.cgroup import find_home\n"
        "raise SystemExit(find_home() is None)"
    )
    contained = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", look]
    subprocess.run(contained, check=True)
    assert group.path.exists()


def test_ctrl_c_while_a_group_is_made_leaves_none(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir, made = Path.mkdir, []

    def interrupted(path: Path) -> None:
        mkdir(path)
        made.append(path)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt):
        home.make()
    assert [path.exists() for path in made] == [False]


def test_without_root_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert find_home() is None


def test_a_placement_without_groups_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A folder is no control group: programs can be put into none of its own."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(cgroup, "find_mount", lambda: tmp_path)
    monkeypatch.setattr(cgroup, "EMPTY_WITHIN_S", 0.0)
    assert find_home() is None
    monkeypatch.setattr(cgroup, "find_mount", lambda: tmp_path / "missing")
    assert find_home() is None


def test_cpu_time_is_what_was_charged_where_both_readings_have_it() -> None:
    later = reading(clock_ns=190, charged_ns=150)
    assert process_tree.cpu_time_ns(reading(clock_ns=100, charged_ns=50), later) == 100
    assert process_tree.cpu_time_ns(reading(clock_ns=100, charged_ns=None), later) == 90


def test_a_home_of_the_root_and_one_below_it_name_their_groups_as_perf_does(tmp_path: Path) -> None:
    (tmp_path / "user.slice").mkdir()
    assert Home(tmp_path, "").make().name.startswith(cgroup.PREFIX)
    made = Home(tmp_path, "user.slice/").make()
    assert made.path.is_dir()
    assert made.name.startswith(f"user.slice/{cgroup.PREFIX}")

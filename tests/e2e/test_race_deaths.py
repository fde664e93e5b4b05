"""Killing random processes of a race: no finished trial is lost, nothing is left behind."""

import os
import random
import signal
import subprocess
import time
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from regatta.record.schema import FILE_NAME
from tests.commands import run
from tests.control_groups import no_group_is_left
from tests.e2e.racing import begin, environment, needs_programs, regatta, study
from tests.ledgers import rows
from tests.processes import marked, network_namespaces
from tests.waiting import wait_until

CELLS = """
[[cells]]
designs = ["iterative", "fork-per-client", "select"]
connections = [1, 4]
requests = 40
[[cells]]
designs = ["prefork-mutex"]
connections = [1, 4]
workers = 4
requests = 40
"""
LIFE_S = 120.0
"""More than the duration of a race with kills."""
TRIALS = "SELECT block, position, cell_id, attempt, status, reason, client FROM trial ORDER BY id"

pytestmark = needs_programs


Deaths = list[tuple[str, list[tuple[object, ...]]]]
"""The programs killed, and the trials in the ledger at that time."""


def name_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def trials(out: Path) -> list[tuple[object, ...]]:
    return rows(out, TRIALS) if (out / FILE_NAME).exists() else []


def kill_some(lab: subprocess.Popen[bytes], mark: str, out: Path, seed: int, most: int) -> Deaths:
    """Kills processes of the lab at random times while it runs; those not killed yet first."""
    chance = random.Random(seed)
    deaths: Deaths = []
    end = time.monotonic() + LIFE_S
    while lab.poll() is None and len(deaths) < most:
        assert time.monotonic() < end, "the race hangs"
        time.sleep(chance.uniform(0.0, 0.3))
        names = {pid: name_of(pid) for pid in marked(mark) if pid != lab.pid}
        killed = {name for name, _ in deaths}
        if not names:
            continue
        new = [pid for pid, name in names.items() if name and name not in killed]
        victim = chance.choice(new or list(names))
        finished = trials(out)
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
            deaths.append((names[victim], finished))
    return deaths


def race_and_kill(folder: Path, text: str, seed: int, most: int) -> Deaths:
    """The race must end by itself without a traceback, and be complete when resumed."""
    (folder / "study.toml").write_text(text)
    out, mark = folder / "race", uuid.uuid4().hex
    lab = begin(folder, "race", "study.toml", "--out", str(out), env=environment(mark))
    wait_until(lambda: lab.poll() is not None or marked(mark), "no process starts")
    deaths = kill_some(lab, mark, out, seed, most)
    networks = network_namespaces(marked(mark)) - network_namespaces([os.getpid()])
    _, complaint = lab.communicate(timeout=LIFE_S)
    assert b"Traceback" not in complaint
    assert lab.returncode in (0, 1), complaint.decode()
    wait_until(lambda: not marked(mark), "a process is left")
    assert not networks & network_namespaces()
    no_group_is_left()
    command: list[str] = []
    if not (out / FILE_NAME).exists():
        # What places the sides was killed: the race ended before it began.
        command = regatta("race", "study.toml", "--out", str(out))
    elif rows(out, "SELECT count(*) FROM meta WHERE key = 'finished_at'") == [(0,)]:
        # Trials with killed processes have failed, and so has the race.
        command = regatta("race", "--resume", str(out))
    if command:
        rest = run(*command, timeout=LIFE_S, cwd=folder, env=environment())
        assert rest.returncode in (0, 1), rest.stderr
        assert "Traceback" not in rest.stderr
    check(out, deaths)
    return deaths


def check(out: Path, deaths: Deaths) -> None:
    found = trials(out)
    planned = rows(out, "SELECT block, position, cell_id FROM plan ORDER BY 1, 2")
    assert sorted({row[:3] for row in found}) == planned
    for _, seen in deaths:
        assert found[: len(seen)] == seen, "a finished trial was lost or changed"
    reasons = {row[5] for row in found if row[4] != "ok"}
    assert all(reasons), "a failed trial has no reason"
    assert ".trial" not in {path.name for path in out.iterdir()}


def test_a_race_with_killed_processes_loses_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    deaths = race_and_kill(tmp_path, study(CELLS, blocks=2, counted_blocks=1), seed=1, most=6)
    assert deaths  # which ones is random


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_a_race_with_many_killed_processes_loses_nothing(seed: int, tmp_path: Path) -> None:
    race_and_kill(tmp_path, study(CELLS, blocks=6, counted_blocks=2), seed, most=40)

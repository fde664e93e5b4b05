"""`regatta calibrate` with real servers: every part runs, and an injected error makes it fail."""

import json
import os
from pathlib import Path

import pytest

from tests.commands import Done, run

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    *("equals: standings of pairs, CPU per request", "equals: secondary column, latency p99"),
    *("equals: standings of 8, as raced", "equals: a table of claims"),
    *("power: quick, over all steps", "power: quick, at one step"),
    *("p99 of a stopped server", "CPU time in the window of fork-per-client"),
    "counted time of a load (closed)",
)


def calibrate(folder: Path, *options: str) -> Done:
    command = (ROOT / "bin/regatta", "calibrate", "--quick", "--out", "here", *options)
    state = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    return run(*command, cwd=folder, env=state, timeout=900)


@pytest.mark.long
def test_a_quick_calibration_runs_every_part_and_detects_an_injected_error(
    tmp_path: Path,
) -> None:
    done = calibrate(tmp_path, "--json")
    found = json.loads(done.stdout)
    names = [goal["name"] for goal in found["goals"]]
    for part in PARTS:
        assert any(part in name for name in names), part
    assert not [goal for goal in found["goals"] if goal["measured"].startswith("failed")]
    # Whether this machine meets the goals is not tested, only that the outcome is reported.
    failure = found["outcome"] in ("missed", "not measured")
    assert done.returncode == (1 if failure else 0), done.stderr
    assert not (tmp_path / "state").exists()
    wrong = calibrate(tmp_path, "--only", "equals", "--inject", "requests")
    assert wrong.returncode == 1
    assert "goals missed: equals: standings of pairs, CPU per request" in wrong.stderr
    assert "missed" in wrong.stdout
    assert "trials, netns" not in wrong.stderr  # it raced nothing

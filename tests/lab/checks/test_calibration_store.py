"""The stored calibration: one file a machine, validated when read."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regatta.checks.calibrate import store
from regatta.errors import CalibrationError
from regatta.record.inputs import Calibration, Goal, to_plain

GOALS = (
    Goal("false alarms", "3.65 to 6.35 %", "5.01 %", True, "of 1,000", 5.01),
    Goal("counters", "within 1 %", "no perf here", None),
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def calibration(**changes: Any) -> Calibration:
    made = Calibration(1_760_000_000.0, 1200.0, "0.1.0", store.machine(), GOALS)
    return replace(made, **changes)


def test_a_stored_calibration_is_loaded_unchanged() -> None:
    assert store.load() is None
    path = store.save(calibration())
    assert store.load() == calibration()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert store.for_ledger() == calibration()


def test_another_machine_has_another_file() -> None:
    elsewhere = {**store.machine(), "cpu_model": "another"}
    store.save(calibration(machine=elsewhere))
    assert store.load() is None


def test_a_relative_state_folder_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert store.path_for({}).parent == tmp_path / ".local/state/regatta"


def plain(**changes: Any) -> dict[str, Any]:
    return {**to_plain(calibration()), **changes}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "not JSON"),
        (json.dumps(plain())[:-20], "not JSON"),
        ("[" * 100_000, "recursion"),
        ("[]", "not an object"),
        (json.dumps(plain(version=1)), "version"),
        (json.dumps(plain(version="x" * 10_000)), "version"),
        (json.dumps(plain(goals=[])), "goals"),
        (json.dumps(plain(goals=[1])), "`goals[1]`"),
        (json.dumps(plain(goals=[{"name": "only"}])), "`goals[1].goal`: field required"),
        (json.dumps(plain(goals=[{**vars(GOALS[0]), "met": "yes"}])), "`goals[1].met`"),
        (json.dumps(plain(goals=[{**vars(GOALS[0]), "value": float("nan")}])), "`goals[1].value`"),
        (json.dumps(plain(goals=[{**vars(GOALS[0]), "more": 1}])), "`goals[1].more`"),
        (json.dumps(plain(taken_at="now")), "`taken_at`"),
        (json.dumps(plain(elapsed_s=1e300)), "`elapsed_s`"),
        (json.dumps(plain(machine=3)), "machine"),
        ("x" * (store.MOST_BYTES + 1), "too large"),
        ("\udcff", "not a calibration"),
    ],
)
def test_a_damaged_file_is_a_one_line_error_and_stops_no_race(text: str, word: str) -> None:
    path = store.save(calibration())
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(CalibrationError) as raised:
        store.load()
    message = str(raised.value)
    assert word in message
    assert "regatta calibrate" in message
    assert "\n" not in message
    assert len(message) < 400
    assert store.for_ledger() == message


def test_a_failed_write_leaves_the_old_file(state: Path) -> None:
    path = store.save(calibration())
    before = path.read_bytes()
    blocked = state / "blocked"
    blocked.write_text("")
    with pytest.raises(CalibrationError, match="cannot write"):
        store.write_whole(blocked / "file.json", "{}")
    assert path.read_bytes() == before

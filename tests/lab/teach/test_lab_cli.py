"""`regatta lab`: mistakes are reported before anything starts, and nothing is lost."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from regatta.errors import UsageError
from regatta.measure.programs import discover
from regatta.teach.lab.session import agreed_state
from regatta.teach.lab.state import (
    LabSetting,
    LabState,
    StepResult,
    load_state,
    save_state,
)
from regatta.teach.lab.step import Lab
from regatta.verbs import lab as verb
from regatta.verbs.main import app

pytestmark = pytest.mark.usefixtures("programs_folder")
PAIR = LabSetting(("iterative", "select"))


def lab(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["lab", *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--designs", "mill,select"], "mill"),
        (["--designs", "iterative, select", "--guess", "pool"], "iterative or select"),
        (["--again", "mill"], "server, clients"),
        (["--designs", "iterative,select", "--work", "play"], "contains 'play'; it must be one of"),
        (["--designs", "iterative"], "2 to 8 designs"),
        (["--designs", "iterative,select", "--connections", "501"], "--connections is over 500"),
        (["--designs", "iterative,absent"], "absent: .*too old"),
    ],
)
def test_a_mistake_is_reported_before_anything_starts(
    arguments: list[str], words: str, tmp_path: Path
) -> None:
    done = lab("--out", tmp_path / "lab", *arguments)
    assert isinstance(done.exception, UsageError)
    with pytest.raises(UsageError, match=words):
        raise done.exception
    assert not (tmp_path / "lab").exists()


@pytest.mark.parametrize(
    ("arguments", "words", "again"),
    [
        (["--connections", "20"], "other settings (iterative, select; 10 connections", ""),
        (["--quick"], "other settings", ""),
        (["--guess", "iterative"], "the guess was select", " --again guess --guess iterative"),
    ],
)
def test_a_lab_keeps_its_settings_and_says_what_to_type(
    arguments: list[str],
    words: str,
    again: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/regatta"])
    folder = tmp_path / "my lab"
    folder.mkdir()
    begun = LabState(PAIR, "select")
    save_state(folder, begun)
    done = lab("--out", folder, *arguments)
    assert isinstance(done.exception, UsageError)
    assert words in str(done.exception)
    assert str(done.exception).endswith(f": /somewhere/bin/regatta lab{again} --out '{folder}'")
    assert load_state(folder) == begun


@pytest.mark.parametrize("step", ["guess", "table", "perf"])
def test_another_guess_is_accepted_if_the_guess_is_repeated(step: str, tmp_path: Path) -> None:
    begun = LabState(PAIR, "select")
    save_state(tmp_path, begun)
    assert agreed_state(tmp_path, {}, "iterative", discover(), step) == begun
    with pytest.raises(UsageError, match="the guess was select"):
        agreed_state(tmp_path, {}, "iterative", discover(), "race")


def test_changes_by_another_process_before_the_lock_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_state(tmp_path, LabState(PAIR))
    later = LabState(PAIR, done={"server": StepResult(said=("It is so.",))})
    labs: list[Lab] = []

    @contextmanager
    def locked_late(folder: Path) -> Iterator[None]:
        save_state(folder, later)
        yield

    monkeypatch.setattr(verb, "locked", locked_late)
    monkeypatch.setattr(verb, "go", lambda lab, *_: labs.append(lab))
    assert lab("--out", tmp_path).exit_code == 0
    assert labs[0].state == later == load_state(tmp_path)

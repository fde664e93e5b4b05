"""The command line: an error is one line and an exit status."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regatta.errors import LedgerError
from regatta.verbs.main import main
from tests.commands import Done, assert_refused
from tests.lab import fake_races
from tests.lab.synthetic import make
from tests.ledgers import change, rows

ROOT = Path(__file__).resolve().parents[3]
STUDY = fake_races.on_one_cpu(
    '[[cells]]\ndesigns = ["iterative"]\nconnections = [3]\nrequests = 3\n', blocks=2
)


Here = Callable[..., Done]


@pytest.fixture
def here(
    programs_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Here:
    """Runs a command in a folder of its own with the fake programs, in this process, which saves
    the time for imports."""
    monkeypatch.chdir(programs_folder.parent)
    Path("tiny.toml").write_text(STUDY)

    def run_here(*arguments: str, **environment: str) -> Done:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["-m", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return Done(arguments, ended.value.code, *capfd.readouterr())

    return run_here


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["race", "--bogus"], 2, ["--bogus"]),
        (["rase"], 2, ["rase", "race"]),
        (["race", "none.toml"], 2, ["none.toml", "quick"]),
        (["race", "tiny.toml", "--json", "--explain"], 2, ["--json", "--explain"]),
        (["report", "races", "--json", "--explain"], 2, ["--json", "--explain"]),
        (["race", "tiny.toml", "--blocks", "0"], 2, ["--blocks", "0"]),
        (["race", "tiny.toml", "--blocks", "-1"], 2, ["--blocks", "-1"]),
        (
            ["race", "tiny.toml", "--blocks", "many"],
            2,
            ["--blocks is many; it must be a whole number"],
        ),
        (["race", "tiny.toml", "--quick", "--blocks", "3"], 2, ["--quick and --blocks cannot"]),
        (["race", "tiny.toml", "--seed", "-1"], 2, ["--seed", "-1"]),
        (["race", "tiny.toml", "--placement", "moon"], 2, ["--placement", "moon", "netns"]),
        (["race", "tiny.toml", "--server-cpus", "x"], 2, ["--server-cpus", "x"]),
        (["race", "tiny.toml", "--server-cpus", "9999"], 2, ["CPU 9999", "allowed"]),
        (["compare", "a", "b", "--threshold", "x"], 2, ["--threshold is x; it must be a number"]),
        (["race", "--sede", "1"], 2, ["--sede", "--seed", "see regatta race --help"]),
        (["race", "--placement", "netn"], 2, ["did you mean netns?"]),
        (["race", "quik"], 2, ["did you mean quick?"]),
        (["race", "--resume", "--seed", "1"], 2, ["--resume"]),
        (["race", "--resume", "--quick"], 2, ["--resume"]),
        (["race", "--resume", "tiny.toml"], 1, ["unfinished", "tiny"]),
        (["race", "--resume", "bin"], 1, ["no ledger"]),
        (["race", "bad.toml"], 2, ["bad.toml", "cells[1].designs", "mill", "iterative"]),
        (["report", "nowhere"], 1, ["no such ledger"]),
        (
            ["race", "tiny.toml", "--out", "my race"],
            2,
            ["resume it: regatta race --resume 'my race'"],
        ),
        (["race", "tiny.toml", "--out", "tiny.toml/race"], 1, ["tiny.toml/race"]),
    ],
)
def test_a_usage_error_is_one_line_and_writes_nothing(
    here: Here, arguments: list[str], status: int, words: list[str]
) -> None:
    Path("bad.toml").write_text(STUDY.replace('"iterative"', '"mill"'))
    Path("my race").mkdir()
    Path("my race/ledger.sqlite").write_text("precious")
    before = sorted(Path().rglob("*"))
    done = here(*arguments)
    assert_refused(done, status, "regatta")
    for word in words:
        assert word in done.stderr
    assert sorted(Path().rglob("*")) == before
    assert Path("my race/ledger.sqlite").read_text() == "precious"


def test_without_a_command_help_is_shown(here: Here) -> None:
    done = here()
    assert (done.returncode, done.stderr) == (2, "regatta: no command given; see regatta --help\n")
    assert "report" in done.stdout


def test_a_truncated_ledger_is_refused_and_not_changed(here: Here) -> None:
    """SQLite does not notice a file cut within a page, and would write to it."""
    folder = Path("races/cut")
    folder.mkdir(parents=True)
    path = make(folder / "ledger.sqlite", blocks=2)
    change(path, "DELETE FROM meta WHERE key = 'finished_at'")
    change(path, "CREATE TABLE unasked(data BLOB)")
    change(path, "INSERT INTO unasked VALUES (randomblob(50000))")
    cut = path.read_bytes()[:-100]
    path.write_bytes(cut)
    before = sorted(folder.iterdir())
    for arguments in (["report", str(folder)], ["race", "--resume", str(folder)]):
        done = here(*arguments)
        assert_refused(done, 1, "regatta")
        assert "its end is missing" in done.stderr
    assert "no unfinished race" in here("race", "--resume", "tiny.toml").stderr
    assert path.read_bytes() == cut
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        BrokenPipeError(),
        ValueError("odd"),
        LedgerError("samples cannot be unpacked"),
    ],
)
@pytest.mark.parametrize(("verb", "status"), [("compare", 2), ("review", 2), ("report", 1)])
def test_where_status_1_is_a_result_a_failure_is_2(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    verb: str,
    status: int,
    error: Exception,
) -> None:
    class Failing:
        def main(self, **_: object) -> None:
            raise error

    monkeypatch.setattr("typer.main.get_command", lambda _: Failing())
    monkeypatch.setattr("os.dup2", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["regatta", verb, "a", "b"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == status
    assert "".join(map(str, error.args[-1:])) in capfd.readouterr().err


def test_missing_and_broken_programs_are_reported(here: Here) -> None:
    Path("bin/regatta-server").write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    for folder, words in (("bin", "broken"), (".", "make build")):
        done = here("race", REGATTA_BIN=folder)
        assert_refused(done, 1, "regatta")
        assert words in done.stderr


def test_a_race_ends_with_one_screen_and_explains_on_request(here: Here) -> None:
    raced = here("race", "tiny.toml", "--out", "one", "--quiet")
    assert raced.returncode == 0
    lines = raced.stdout.splitlines()
    assert any("±" in line for line in lines)
    assert lines[-2:] == ["more:   regatta report one --explain", "report: one/report.html"]
    assert len(lines) < 24
    again = here("report", "one")
    assert again.stdout == raced.stdout
    explained = here("report", "one", "--explain").stdout
    for words in ("throughput", "page faults", "At 3 connections", "95 % interval", "calibrated"):
        assert words in " ".join(explained.split())
        assert words not in " ".join(raced.stdout.split()).replace("± its 95 % interval", "")
    assert explained.splitlines()[-1] == "report: one/report.html"
    also = here("race", "tiny.toml", "--out", "two", "--quiet", "--explain", "--blocks", "1")
    assert "throughput" in also.stdout


def test_a_quick_race_says_so_before_and_after(here: Here) -> None:
    Path("tiny.toml").write_text(STUDY.replace("blocks = 2", "blocks = 50"))
    raced = here("race", "tiny.toml", "--quick", "--out", "one")
    assert raced.returncode == 0
    assert "note: a first look: 7 timed and 2 counted blocks\n" in raced.stderr
    assert "block 1 (timed)" in raced.stderr, "without a terminal, progress goes there"
    assert "block 1 (timed)" not in raced.stdout
    assert "A first look detects only large differences: leave out --quick\n" in raced.stdout
    assert "**A first look detects only" in Path("one/summary.md").read_text()
    summary = json.loads(here("report", "one", "--json").stdout)
    assert (summary["quick"], summary["trials"]["ok"]) == (True, {"timed": 7, "counted": 2})


def test_a_race_in_which_everything_fails_has_a_report(here: Here) -> None:
    Path("tiny.toml").write_text(STUDY.replace("blocks = 2", "blocks = 9"))
    done = here("race", "tiny.toml", "--out", "one", "--quiet", FAKE="server-fails-to-start")
    assert_refused(done, 1, "regatta")
    assert "the first 5 trials all failed" in done.stderr
    assert done.stderr.endswith("Report: one/report.html\n")
    for name in ("report.html", "summary.md"):
        assert "the moon is in the way" in Path("one", name).read_text()


def test_counters_that_were_switched_off_are_not_called_unsupported(here: Here) -> None:
    assert here("race", "tiny.toml", "--out", "one", "--quiet", "--no-perf").returncode == 0
    written = Path("one/report.html").read_text()
    assert "(switched off)" in written
    assert "instructions (not supported)" not in written
    states = rows(Path("one"), "SELECT DISTINCT state FROM counter WHERE origin = 'perf'")
    assert ("not supported",) not in [state for state in states if state[0] != "counted"]
    assert ("switched off",) in states


@pytest.mark.usefixtures("here")
def test_ctrl_c_keeps_finished_trials_and_says_how_to_resume() -> None:
    Path("tiny.toml").write_text(STUDY.replace("blocks = 2", "blocks = 500"))
    process = subprocess.Popen(
        [sys.executable, "-m", "regatta", "race", "tiny.toml", "--out", "out"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    for line in process.stderr:
        if line.startswith("2/"):
            break
    # To the whole foreground process group, as a terminal sends it.
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    (line,) = [line for line in stderr.splitlines() if line.startswith("regatta: ")]
    assert line.startswith("regatta: interrupted")
    assert "regatta race --resume out" in line
    Path("tiny.toml").unlink()

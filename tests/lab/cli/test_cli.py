"""The command line: errors are one line and an exit status, and help teaches."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from regatta.cli.main import main
from regatta.errors import LedgerError
from tests.lab import fake_programs
from tests.lab.synthetic import make

ROOT = Path(__file__).resolve().parents[3]
STUDY = """
name = "tiny"
[race]
blocks = 2
[placement]
kind = "loopback"
server_cpus = [0]
client_cpus = [0]
[[cells]]
designs = ["iterative"]
connections = [3]
requests = 3
"""


class Lab:
    """The command line with the fake programs, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        fake_programs.install(folder / "bin")
        (folder / "tiny.toml").write_text(STUDY)
        self.environment = {
            **os.environ,
            "REGATTA_BIN": str(folder / "bin"),
            "PYTHONPATH": str(ROOT),
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "regatta", *arguments]

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["race", "--bogus"], 2, ["--bogus"]),
        (["rase"], 2, ["rase", "race"]),
        ([], 2, ["no command"]),
        (["race", "none.toml"], 2, ["none.toml", "quick"]),
        (["race", "tiny.toml", "--json", "--explain"], 2, ["--json", "--explain"]),
        (["report", "races", "--json", "--explain"], 2, ["--json", "--explain"]),
        (["race", "tiny.toml", "--blocks", "0"], 2, ["--blocks", "0"]),
        (["race", "tiny.toml", "--blocks", "-1"], 2, ["--blocks", "-1"]),
        (["race", "tiny.toml", "--blocks", "many"], 2, ["--blocks", "integer"]),
        (["race", "tiny.toml", "--seed", "-1"], 2, ["--seed", "-1"]),
        (["race", "tiny.toml", "--placement", "moon"], 2, ["--placement", "moon", "netns"]),
        (["race", "tiny.toml", "--server-cpus", "x"], 2, ["--server-cpus", "x"]),
        (["race", "tiny.toml", "--server-cpus", "9999"], 2, ["CPU 9999", "allowed"]),
        (["race", "--resume", "--seed", "1"], 2, ["--resume"]),
        (["race", "--resume", "tiny.toml"], 1, ["unfinished", "tiny"]),
        (["race", "--resume", "bin"], 1, ["no ledger"]),
        (["race", "bad.toml"], 2, ["bad.toml", "cells[1].designs", "mill", "iterative"]),
        (["report", "nowhere"], 1, ["no such ledger"]),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(
    lab: Lab, arguments: list[str], status: int, words: list[str]
) -> None:
    (lab.folder / "bad.toml").write_text(STUDY.replace('"iterative"', '"mill"'))
    before = sorted(lab.folder.rglob("*"))
    done = lab.run(*arguments)
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith("regatta: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert sorted(lab.folder.rglob("*")) == before


def test_a_ledger_without_its_end_is_left_alone(lab: Lab) -> None:
    """Cut within a page, it is whole to SQLite, which would go on to write."""
    folder = lab.folder / "races" / "cut"
    folder.mkdir(parents=True)
    path = make(folder / "ledger.sqlite", blocks=2)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM meta WHERE key = 'finished_at'")
        database.execute("CREATE TABLE unasked(data BLOB)")
        database.execute("INSERT INTO unasked VALUES (randomblob(50000))")
    cut = path.read_bytes()[:-100]
    path.write_bytes(cut)
    before = sorted(folder.iterdir())
    for arguments in (["report", str(folder)], ["race", "--resume", str(folder)]):
        done = lab.run(*arguments)
        assert done.returncode == 1
        assert "its end is missing" in done.stderr
        assert done.stderr.count("\n") == 1
    assert "no unfinished race" in lab.run("race", "--resume", "tiny.toml").stderr
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
@pytest.mark.parametrize(("verb", "status"), [("compare", 2), ("report", 1)])
def test_a_failure_of_compare_is_no_regression(
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


def test_missing_programs_are_named_with_the_command_that_builds_them(lab: Lab) -> None:
    done = lab.run("race", REGATTA_BIN=str(lab.folder))
    assert done.returncode == 1
    assert "make build" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_broken_program_is_named(lab: Lab) -> None:
    (lab.folder / "bin" / "regatta-server").write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    done = lab.run("race")
    assert done.returncode == 1
    assert "broken" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("verb", ["race", "report"])
def test_help_shows_examples(lab: Lab, verb: str) -> None:
    done = lab.run(verb, "--help")
    assert done.returncode == 0
    assert "Examples" in done.stdout
    assert f"regatta {verb}" in done.stdout


def test_the_version_is_told(lab: Lab) -> None:
    assert lab.run("--version").stdout.startswith("regatta 0.")


def test_a_race_ends_with_one_screen_and_explains_on_request(lab: Lab) -> None:
    raced = lab.run("race", "tiny.toml", "--out", "one", "--quiet")
    assert raced.returncode == 0
    lines = raced.stdout.splitlines()
    assert any("±" in line for line in lines)
    assert lines[-2:] == ["more:   regatta report one --explain", "report: one/report.html"]
    assert len(lines) < 24
    again = lab.run("report", "one")
    assert again.stdout == raced.stdout
    explained = lab.run("report", "one", "--explain").stdout
    for words in ("throughput", "page faults", "At 3 connections", "95 % interval", "calibrated"):
        assert words in " ".join(explained.split())
        assert words not in " ".join(raced.stdout.split()).replace("± its 95 % interval", "")
    assert explained.splitlines()[-1] == "report: one/report.html"
    also = lab.run("race", "tiny.toml", "--out", "two", "--quiet", "--explain", "--blocks", "1")
    assert "throughput" in also.stdout


def test_an_existing_race_is_not_overwritten(lab: Lab) -> None:
    (lab.folder / "out").mkdir()
    (lab.folder / "out" / "ledger.sqlite").write_text("precious")
    done = lab.run("race", "tiny.toml", "--out", "out")
    assert done.returncode == 2
    assert "--resume" in done.stderr
    assert (lab.folder / "out" / "ledger.sqlite").read_text() == "precious"


def test_a_folder_that_cannot_be_made_is_named(lab: Lab) -> None:
    done = lab.run("race", "tiny.toml", "--out", "tiny.toml/race")
    assert done.returncode == 1
    assert "tiny.toml/race" in done.stderr
    assert done.stderr.count("\n") == 1


def test_ctrl_c_keeps_what_was_finished_and_says_how_to_go_on(lab: Lab) -> None:
    (lab.folder / "tiny.toml").write_text(STUDY.replace("blocks = 2", "blocks = 500"))
    process = subprocess.Popen(
        lab.command("race", "tiny.toml", "--out", "out"),
        cwd=lab.folder,
        env={**lab.environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout
    for line in process.stdout:
        if line.startswith("2/"):
            break
    # As the terminal does it: to the whole foreground group.
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.startswith("regatta: interrupted")
    assert "regatta race --resume out" in stderr
    assert stderr.count("\n") == 1
    (lab.folder / "tiny.toml").unlink()

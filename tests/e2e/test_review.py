"""`regatta review` on the command line: output and exit status, also for hostile input."""

import os
from pathlib import Path

from tests.commands import assert_refused, run
from tests.servers import REPOSITORY, program

REVIEW = (program("regatta"), "review")
FIXTURES = REPOSITORY / "tests/lab/fixtures/review"
PUBLISHED = REPOSITORY / "studies/published/measurements.csv"


def test_the_published_reports_are_reviewed() -> None:
    done = run(*REVIEW, PUBLISHED)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert f"{PUBLISHED}:53: a server that hardly ran (E, select, 5, server)" in lines
    assert lines[-1].startswith("623 figures of 49 runs in 1 file: 2 contradictions, ")


def test_it_reads_standard_input_and_several_files() -> None:
    text = (FIXTURES / "indian.txt").read_text()
    done = run(*REVIEW, "-", FIXTURES / "hybrid.txt", stdin=text)
    assert done.returncode == 1
    assert "standard input:11: " in done.stdout
    assert "in 2 files" in done.stdout


def test_what_has_no_figures_is_refused(tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.write_bytes(b'{"a": \x1b[2J\0\xff')
    for words in ((odd,), ("none\x1b[31m.txt",), ()):
        done = run(*REVIEW, *words)
        assert_refused(done, 2, "regatta")
        assert "\x1b" not in done.stderr


def test_control_characters_in_names_are_escaped(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    path = folder + b"/\x1b[2J\xff.csv"
    Path(os.fsdecode(path)).write_text(
        "design,\x1b[31m,cycles\n\x1b]0;owned\x07,\x9b1m,\x1b[5m\n\x1b[2J,b,5\n"
    )
    for option in ((), ("--json",)):
        done = run(*REVIEW, os.fsdecode(path), *option)
        assert (done.returncode, done.stderr) == (1, "")
        assert not [char for char in done.stdout if not char.isprintable() and char != "\n"]

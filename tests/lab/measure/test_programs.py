"""Programs are named as a person types them, so that a line can be copied."""

import sys
from pathlib import Path

import pytest

from regatta.measure.programs import called, called_with, shown, typed


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    program = tmp_path / "bin" / "regatta"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("inside", "words"),
    [(".", "bin/regatta"), ("bin", "./regatta"), ("elsewhere", None)],
)
def test_a_program_is_typed_so_that_a_shell_finds_it(
    inside: str, words: str | None, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = clone / inside
    here.mkdir(exist_ok=True)
    monkeypatch.chdir(here)
    program = clone / "bin" / "regatta"
    monkeypatch.setattr(sys, "argv", [str(program)])
    assert typed(program) == called() == (words or str(program))


def test_a_program_called_by_its_bare_name_is_shown_by_that_name(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clone)
    monkeypatch.setattr(sys, "argv", [str(clone / "bin" / "regatta")])
    links = clone / "links"
    links.mkdir()
    (links / "regatta").symlink_to(clone / "bin" / "regatta")
    monkeypatch.setenv("PATH", str(links))
    assert called() == "regatta"


def test_python_runs_it_under_the_name_of_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/regatta/__main__.py"])
    assert called() == "regatta"


def test_a_line_to_go_on_with_can_be_copied_into_a_shell(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clone)
    monkeypatch.setattr(sys, "argv", [str(clone / "bin" / "regatta")])
    folder = clone / "my races" / "one"
    assert shown(folder) == Path("my races/one")
    assert called_with("race", "--resume", shown(folder)) == (
        "bin/regatta race --resume 'my races/one'"
    )

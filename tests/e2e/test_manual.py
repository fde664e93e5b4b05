"""The manual pages and --help: complete, well formed, and with the same options."""

import re
from pathlib import Path

import pytest

from tests.commands import run, run_well
from tests.servers import REPOSITORY, needs, program, running

FOLDER = REPOSITORY / "docs/man"
PROGRAMS = ["regatta-server", "regatta-client"]
LONG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")


def help_of(name: str, *mode: str) -> str:
    return run_well(program(name), *mode, "--help")


def helped(name: str, *mode: str) -> set[str]:
    """Long options in the program's help."""
    return set(LONG.findall(help_of(name, *mode)))


def page_of(name: str) -> str:
    return (FOLDER / f"{name}.1").read_text()


def described(name: str) -> set[str]:
    """Long options with an entry in the manual."""
    entries = re.findall(r"^\.It (Fl .*)$", page_of(name), re.MULTILINE)
    return {f"-{option}" for entry in entries for option in re.findall(r"Fl (-[a-z-]+)", entry)}


@pytest.mark.parametrize(
    ("name", "mode"), [*((name, ()) for name in PROGRAMS), ("regatta-client", ("--watch",))]
)
def test_the_help_fits_a_terminal(name: str, mode: tuple[str, ...]) -> None:
    shown = help_of(name, *mode)
    assert max(map(len, shown.splitlines())) <= 100
    assert ("Examples:" in shown) == (name == "regatta-client")
    assert "Exit status" in shown


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_manual_has_the_options_of_the_help(name: str) -> None:
    watching = helped(name, "--watch") if name == "regatta-client" else set()
    assert sorted(described(name)) == sorted(helped(name) | watching)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_option_mentioned_in_the_manual_is_described(name: str) -> None:
    spoken = {f"-{option}" for option in re.findall(r"Fl (-[a-z][a-z-]+)", page_of(name))}
    assert sorted(spoken - described(name)) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_knows_every_option_that_the_manual_describes(name: str) -> None:
    """With wrong values it complains, but not about an unknown option."""
    for option in sorted(described(name)):
        mode = [] if option in helped(name) else ["--watch"]
        done = run(program(name), *mode, option, "", "surplus", "surplus")
        assert not re.search(r"unknown option|^\S+: option .*unknown", done.stderr), option


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("section", ["NAME", "SYNOPSIS", "EXIT STATUS", "EXAMPLES", "SECURITY"])
def test_the_manual_has_the_usual_sections(name: str, section: str) -> None:
    assert f"\n.Sh {section}\n" in page_of(name)


def test_the_manual_says_that_bpf_sees_past_hidepid() -> None:
    security = page_of("regatta-server").partition(".Sh SECURITY")[2]
    assert "hidepid" in security
    assert "bpf" in security


@pytest.mark.parametrize("name", PROGRAMS)
def test_man_shows_it_without_warnings(name: str) -> None:
    command = (needs("man"), "-l", "--warnings", "-E", "UTF-8", FOLDER / f"{name}.1")
    done = run(*command, env={"MANWIDTH": "80", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "SECURITY" in done.stdout


def test_an_installation_has_manuals_and_completion(tmp_path: Path) -> None:
    """Runs the lines of scripts/install that fill PREFIX/share."""
    script = (REPOSITORY / "scripts/install").read_text()
    lines = script[script.index("for page in") :]
    run_well(needs("bash"), "-euc", f"prefix={tmp_path}\n{lines}", cwd=REPOSITORY)
    for name in PROGRAMS:
        assert (tmp_path / f"share/man/man1/{name}.1").read_text() == page_of(name)
        assert (tmp_path / f"share/bash-completion/completions/{name}").is_file()


def test_the_last_line_says_what_it_counts_as_the_manual_does(tmp_path: Path) -> None:
    with running(tmp_path, "--work", "snapshot") as server:
        server.stop()
    assert re.search(r"[\d.]+ s of CPU in the [\d.]+ s since it was ready\n", server.stderr)
    assert "Its last line counts CPU time since it was ready." in page_of("regatta-server")

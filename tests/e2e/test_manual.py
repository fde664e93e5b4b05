"""The manual pages and --help: complete, well formed, and with the same options."""

import re

import pytest

from tests.commands import run, run_well
from tests.servers import REPOSITORY, needs, program

FOLDER = REPOSITORY / "docs/man"
PROGRAMS = ["regatta-server", "regatta-client"]
LONG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")


def helped(name: str, *mode: str) -> set[str]:
    """Long options in the program's help."""
    return set(LONG.findall(run_well(program(name), *mode, "--help")))


def page_of(name: str) -> str:
    return (FOLDER / f"{name}.1").read_text()


def described(name: str) -> set[str]:
    """Long options with an entry in the manual."""
    entries = re.findall(r"^\.It (Fl .*)$", page_of(name), re.MULTILINE)
    return {f"-{option}" for entry in entries for option in re.findall(r"Fl (-[a-z-]+)", entry)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_manual_has_the_options_of_the_help_and_the_program_knows_them(name: str) -> None:
    """With wrong values it complains, but not about an unknown option."""
    watching = helped(name, "--watch") if name == "regatta-client" else set()
    assert sorted(described(name)) == sorted(helped(name) | watching)
    spoken = {f"-{option}" for option in re.findall(r"Fl (-[a-z][a-z-]+)", page_of(name))}
    assert sorted(spoken - described(name)) == []
    for option in sorted(described(name)):
        mode = [] if option in helped(name) else ["--watch"]
        done = run(program(name), *mode, option, "", "surplus", "surplus")
        assert not re.search(r"unknown option|^\S+: option .*unknown", done.stderr), option


@pytest.mark.parametrize("name", PROGRAMS)
def test_man_shows_it_without_warnings(name: str) -> None:
    command = (needs("man"), "-l", "--warnings", "-E", "UTF-8", FOLDER / f"{name}.1")
    done = run(*command, env={"MANWIDTH": "80", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "SECURITY" in done.stdout

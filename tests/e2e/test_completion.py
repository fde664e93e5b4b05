"""Completion in a real bash, manual pages and --help: complete, and with the same options."""

import re
from pathlib import Path

import pytest

from regatta.verbs.main import VERBS, load
from tests.commands import run, run_well
from tests.servers import REPOSITORY, needs, program, table

FOLDER = REPOSITORY / "deploy/completion"
MANUALS = REPOSITORY / "docs/man"
PROGRAMS = ["regatta-server", "regatta-client"]
LONG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]")


def helped(name: str, *mode: str) -> set[str]:
    """Long options in the program's help."""
    return set(LONG.findall(run_well(program(name), *mode, "--help")))


def complete(name: str, *words: str) -> list[str]:
    """Completions of the last word, called as bash does."""
    function = "_" + name.replace("-", "_")
    script = f"""
        source {FOLDER / name}.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        {function}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = run(needs("bash"), "--norc", "-c", script, "bash", program(name), *words, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_every_design_is_offered() -> None:
    listed = [design.name for design in table()]
    assert complete("regatta-server", "--design", "") == listed
    assert complete("regatta-server", "-d", "") == listed
    assert complete("regatta-server", "--quiet", "--design", "=", "") == listed
    assert complete("regatta-server", "--design", "prefork-") == [
        name for name in listed if name.startswith("prefork-")
    ]
    assert complete("regatta-server", "--design", "=") == listed


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_options_offered_are_those_of_the_help(name: str) -> None:
    assert sorted(complete(name, "-")) == sorted(helped(name))


def test_with_watch_the_options_are_those_of_watch() -> None:
    wanted = sorted(helped("regatta-client", "--watch"))
    assert sorted(complete("regatta-client", "--watch", "-")) == wanted
    assert sorted(complete("regatta-client", "alpha", "--watch", "--json", "-")) == wanted
    assert complete("regatta-client", "--watch", "--group", "=", "c") == ["cgroup"]


def test_files_and_words_are_offered(tmp_path: Path) -> None:
    (tmp_path / "token-of-ours").write_text("")
    assert complete("regatta-server", "--token-file", f"{tmp_path}/tok") == [
        f"{tmp_path}/token-of-ours"
    ]
    assert complete("regatta-server", "--work", "s") == [
        "scan",
        "snapshot",
        "spin=50us",
        "scan+spin=50us",
    ]
    assert "root" in complete("regatta-server", "--user", "roo")
    assert complete("regatta-client", "--engine", "") == ["epoll", "thread", "fork"]
    assert complete("regatta-client", "--load", "=", "o") == ["open"]


def page_of(name: str) -> str:
    return (MANUALS / f"{name}.1").read_text()


def described(name: str) -> set[str]:
    """Long options with an entry in the manual."""
    entries = re.findall(r"^\.It (Fl .*)$", page_of(name), re.MULTILINE)
    return {f"-{option}" for entry in entries for option in re.findall(r"Fl (-[a-z0-9-]+)", entry)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_manual_has_the_options_of_the_help_and_the_program_knows_them(name: str) -> None:
    """With wrong values it complains, but not about an unknown option."""
    watching = helped(name, "--watch") if name == "regatta-client" else set()
    assert sorted(described(name)) == sorted(helped(name) | watching)
    spoken = {f"-{option}" for option in re.findall(r"Fl (-[a-z][a-z0-9-]+)", page_of(name))}
    assert sorted(spoken - described(name)) == []
    for option in sorted(described(name)):
        mode = [] if option in helped(name) else ["--watch"]
        done = run(program(name), *mode, option, "", "surplus", "surplus")
        assert not re.search(r"unknown option|^\S+: option .*unknown", done.stderr), option


@pytest.mark.parametrize("name", [*PROGRAMS, "regatta"])
def test_man_shows_it_without_warnings(name: str) -> None:
    command = (needs("man"), "-l", "--warnings", "-E", "UTF-8", MANUALS / f"{name}.1")
    done = run(*command, env={"MANWIDTH": "80", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "EXIT STATUS" in done.stdout


# `regatta` itself

PAGE = MANUALS / "regatta.1"


def test_the_manual_lists_every_command_with_the_line_of_the_help() -> None:
    assert re.findall(r"^\.It Cm (\S+)\n(.*)$", PAGE.read_text(), re.MULTILINE) == [*VERBS.items()]


def test_every_command_is_offered() -> None:
    assert complete("regatta", "") == [*VERBS]
    assert complete("regatta", "re") == ["report", "review"]


@pytest.mark.parametrize("verb", ["race", "versus", "compare"])
def test_the_options_offered_are_those_of_the_command(verb: str) -> None:
    options = {name for option in load(verb).params for name in option.opts if name[:2] == "--"}
    assert set(complete("regatta", verb, "--")) == options | {"--help"}

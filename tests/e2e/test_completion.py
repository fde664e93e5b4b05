"""Completion in a real bash, with the same options as --help, and the manual of `regatta`."""

import os
import re
from pathlib import Path

import pytest

from regatta.verbs.main import VERBS, load
from tests.commands import run, run_well
from tests.e2e.test_manual import PROGRAMS, helped
from tests.servers import REPOSITORY, needs, program, table

FOLDER = REPOSITORY / "deploy/completion"


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


# `regatta` itself

PAGE = REPOSITORY / "docs/man/regatta.1"


def test_the_manual_lists_every_command_with_the_line_of_the_help() -> None:
    assert re.findall(r"^\.It Cm (\S+)\n(.*)$", PAGE.read_text(), re.MULTILINE) == [*VERBS.items()]


def test_the_manual_is_well_formed() -> None:
    settings = {"env": {**os.environ, "MANWIDTH": "80"}}
    assert "EXIT STATUS" in run_well(needs("man"), "-l", PAGE, **settings)
    assert run(needs("man"), "--warnings", "-l", PAGE).stderr == ""


def test_every_command_is_offered() -> None:
    assert complete("regatta", "") == [*VERBS]
    assert complete("regatta", "re") == ["report", "review"]


@pytest.mark.parametrize("verb", ["race", "versus", "compare"])
def test_the_options_offered_are_those_of_the_command(verb: str) -> None:
    options = {name for option in load(verb).params for name in option.opts if name[:2] == "--"}
    assert set(complete("regatta", verb, "--")) == options | {"--help"}

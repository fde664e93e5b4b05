"""The manual page and the completion of `regatta` itself."""

import os
import re

import pytest

from regatta.verbs.main import VERBS, load
from tests.commands import run, run_well
from tests.e2e.racing import ROOT, needs_programs
from tests.servers import needs

PAGE = ROOT / "docs/man/regatta.1"


def test_the_manual_lists_every_command_with_the_line_of_the_help() -> None:
    assert re.findall(r"^\.It Cm (\S+)\n(.*)$", PAGE.read_text(), re.MULTILINE) == [*VERBS.items()]


def test_the_manual_is_well_formed_and_says_what_no_color_keeps() -> None:
    text = " ".join(
        run_well(needs("man"), "-l", PAGE, env={**os.environ, "MANWIDTH": "80"}).split()
    )
    assert "Bold and dim text remain" in text
    assert run(needs("man"), "--warnings", "-l", PAGE).stderr == ""


def complete(*words: str) -> list[str]:
    script = f"""
        source {ROOT}/deploy/completion/regatta.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _regatta
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    program = ROOT / "bin" / "regatta"
    done = run(needs("bash"), "--norc", "-c", script, "bash", program, *words, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@needs_programs
def test_every_command_is_offered() -> None:
    assert complete("") == [*VERBS]
    assert complete("re") == ["report", "review"]


@needs_programs
@pytest.mark.parametrize("verb", ["race", "versus", "compare"])
def test_the_options_offered_are_those_of_the_command(verb: str) -> None:
    options = {name for one in load(verb).params for name in one.opts if name.startswith("--")}
    assert set(complete(verb, "--")) == options | {"--help"}

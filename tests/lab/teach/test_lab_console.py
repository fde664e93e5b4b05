"""The lab on a terminal: every key has an answer, and lines break between words."""

import builtins
from io import StringIO

import pytest
from rich.console import Console

from regatta.teach.lab.console import Choice, LabScreen
from regatta.teach.lab.state import StepResult
from tests.lab.fake_labs import BY_NAME

COLUMNS = 60


def shown(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def console() -> Console:
    return Console(file=StringIO(), width=COLUMNS, force_terminal=False)


def test_an_unknown_key_is_reported_and_the_question_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = ["x", "r"]
    monkeypatch.setattr(builtins, "input", lambda *_: keys.pop(0))
    terminal = LabScreen(console(), asks=True)
    assert terminal.choose(by_hand=True) is Choice.RUN
    assert "x is not one of these keys." in shown(terminal.console)
    assert shown(terminal.console).count("q: stop here") == 2


def test_lines_break_between_words() -> None:
    terminal = LabScreen(console(), asks=True)
    step = BY_NAME["clients"]
    said = " ".join(step.text)
    terminal.end(step, StepResult())
    terminal.say(said)
    lines = shown(terminal.console).splitlines()
    assert max(map(len, lines)) <= COLUMNS
    assert len(lines) > len(step.questions) + 1
    words = [word for line in lines for word in line.split() if word != "?"]
    assert words == " ".join([*step.questions, said]).split()

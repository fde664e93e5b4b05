"""The hour at a terminal: every key has an answer, and no line ends within a word."""

import builtins
from io import StringIO

import pytest
from rich.console import Console

from regatta.lab.kept import Kept
from regatta.lab.steps.asking import AskByHand, AskWithMany
from regatta.lab.talk import Terminal
from regatta.lab.walk import Choice

COLUMNS = 60


def shown(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def console() -> Console:
    return Console(file=StringIO(), width=COLUMNS, force_terminal=False)


def test_a_key_that_means_nothing_is_told_and_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = ["x", "r"]
    monkeypatch.setattr(builtins, "input", lambda *_: keys.pop(0))
    terminal = Terminal(console())
    assert terminal.choose(AskByHand(), by_hand=True) is Choice.RUN
    assert "x is none of these keys." in shown(terminal.console)
    assert shown(terminal.console).count("q: stop here") == 2


def test_what_is_read_is_not_broken_within_a_word() -> None:
    terminal = Terminal(console())
    step = AskWithMany()
    said = " ".join(step.text)
    terminal.end(step, Kept())
    terminal.say(said)
    lines = shown(terminal.console).splitlines()
    assert max(map(len, lines)) <= COLUMNS
    assert len(lines) > len(step.questions) + 1
    words = [word for line in lines for word in line.split() if word != "?"]
    assert words == " ".join([*step.questions, said]).split()

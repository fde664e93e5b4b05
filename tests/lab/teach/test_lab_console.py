"""The lab on a terminal: every key has an answer."""

import builtins
from io import StringIO

import pytest
from rich.console import Console

from regatta.teach.lab.console import RUN, LabScreen

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
    assert terminal.choose(by_hand=True) == RUN
    assert "x is not one of these keys." in shown(terminal.console)
    assert shown(terminal.console).count("q: stop here") == 2

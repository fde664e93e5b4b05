"""From step to step: stopped, gone on with, done again; and what a person did not type."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from regatta.errors import UsageError
from regatta.lab import walk as walking
from regatta.lab.kept import Kept
from regatta.lab.state import load_state
from regatta.lab.step import Desk, Step, Typed
from regatta.lab.walk import Choice, do_again, walk
from tests.lab.labs import desk_in


class Numbered(Step):
    """Writes its own name into a file, and keeps what is in it."""

    text = ("To read.",)
    questions = ("Why?",)
    ran: ClassVar[list[str]] = []

    def files(self, desk: Desk) -> Sequence[str]:
        del desk
        return (f"{self.name}.txt",)

    def run(self, desk: Desk) -> None:
        self.ran.append(self.name)
        desk.path(f"{self.name}.txt").write_text(self.name)

    def keep(self, desk: Desk) -> Kept:
        return Kept(said=(desk.path(f"{self.name}.txt").read_text(),))


class One(Numbered):
    name, title = "one", "The first"

    def commands(self, desk: Desk) -> Sequence[Typed]:
        del desk
        return [Typed(1, "echo one > one.txt")]


class Two(Numbered):
    name, title, rests_on = "two", "The second", ("one",)


class Three(Numbered):
    name, title, rests_on = "three", "The third", ("two",)


class Other(Numbered):
    name, title = "other", "Beside them"


class Scripted:
    """Chooses as it is told, and remembers what it was shown."""

    def __init__(self, *choices: Choice) -> None:
        self.choices = list(choices)
        self.shown: list[str] = []

    def begin(self, number: int, step: Step, desk: Desk) -> None:
        del desk
        self.shown.append(f"{number} {step.name}")

    def choose(self, step: Step, by_hand: bool) -> Choice:
        assert by_hand == (step.name == "one")
        return self.choices.pop(0)

    def not_there(self, names: Sequence[str]) -> None:
        self.shown += [f"missing {Path(name).name}" for name in names]

    def end(self, step: Step, kept: Kept) -> None:
        self.shown.append(f"{step.name}: {' '.join(kept.said)}")

    def say(self, text: str) -> None:
        self.shown.append(text)

    def ask(self, question: str) -> str:
        del question
        return ""


@pytest.fixture(autouse=True)
def four_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "STEPS", (One(), Two(), Three(), Other()))
    Numbered.ran.clear()


def test_it_stops_where_the_person_stops_and_goes_on_there(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    assert not walk(desk, Scripted(Choice.RUN, Choice.STOP))
    assert list(load_state(tmp_path).done) == ["one"]
    desk = desk_in(tmp_path, done=load_state(tmp_path).done)
    talk = Scripted(*[Choice.GO] * 3)
    assert walk(desk, talk)
    assert talk.shown == [
        *("2 two", "two: two", "3 three", "three: three", "4 other", "other: other")
    ]
    assert Numbered.ran == ["one", "two", "three", "other"]
    assert list(load_state(tmp_path).done) == ["one", "two", "three", "other"]


def test_a_step_that_ends_early_is_not_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Two, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        walk(desk_in(tmp_path), Scripted(Choice.RUN, Choice.GO))
    assert list(load_state(tmp_path).done) == ["one"]


def test_what_was_typed_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("typed by hand")
    talk = Scripted(Choice.GO, Choice.STOP)
    walk(desk_in(tmp_path), talk)
    assert "one: typed by hand" in talk.shown
    assert Numbered.ran == []
    assert load_state(tmp_path).by_hand == {"one": True}


@pytest.mark.parametrize("content", [None, ""])
def test_what_was_not_typed_is_asked_for(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "one.txt").write_text(content)
    talk = Scripted(Choice.GO, Choice.RUN, Choice.STOP)
    walk(desk_in(tmp_path), talk)
    assert talk.shown[:3] == ["1 one", "missing one.txt", "one: one"]
    assert load_state(tmp_path).by_hand == {"one": False}


def test_who_did_a_step_is_forgotten_with_it(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    walk(desk, Scripted(Choice.RUN, Choice.STOP))
    do_again(desk, "one")
    assert load_state(tmp_path).by_hand == {}


def test_doing_a_step_again_forgets_what_rests_on_it_and_deletes_nothing(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    walk(desk, Scripted(*[Choice.RUN] * 4))
    for times in (1, 2):
        do_again(desk, "two")
        assert list(load_state(tmp_path).done) == ["one", "other"]
        assert (tmp_path / f"earlier/two-{times}/two.txt").read_text() == "two"
        assert (tmp_path / f"earlier/three-{times}/three.txt").exists()
        assert walk(desk, Scripted(*[Choice.RUN] * 2))
    assert Numbered.ran == ["one", "two", "three", "other", *["two", "three"] * 2]


def test_a_step_that_does_not_exist_is_told_with_those_that_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--again is four; it must be one of one, two, three"):
        do_again(desk_in(tmp_path), "four")

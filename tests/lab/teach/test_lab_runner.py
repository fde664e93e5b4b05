"""The runner: stopping, continuing and repeating steps; and commands that were not typed."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from regatta.errors import UsageError
from regatta.teach.lab import session
from regatta.teach.lab.session import do_again, run_steps
from regatta.teach.lab.state import StepResult, load_state
from regatta.teach.lab.step import Choice, Lab, Step, Typed
from tests.lab.fake_labs import lab_in


class Numbered(Step):
    """Writes its name into a file; the file's content is its result."""

    text = ("To read.",)
    questions = ("Why?",)
    ran: ClassVar[list[str]] = []

    def files(self, lab: Lab) -> Sequence[str]:
        del lab
        return (f"{self.name}.txt",)

    def run(self, lab: Lab) -> None:
        self.ran.append(self.name)
        lab.path(f"{self.name}.txt").write_text(self.name)

    def result(self, lab: Lab) -> StepResult:
        return StepResult(said=(lab.path(f"{self.name}.txt").read_text(),))


class One(Numbered):
    name, title = "one", "The first"

    def commands(self, lab: Lab) -> Sequence[Typed]:
        del lab
        return [Typed(1, "echo one > one.txt")]


class Two(Numbered):
    name, title, depends_on = "two", "The second", ("one",)


class Three(Numbered):
    name, title, depends_on = "three", "The third", ("two",)


class Other(Numbered):
    name, title = "other", "Beside them"


class Scripted:
    """A display that plays back choices and records what it was shown."""

    def __init__(self, *choices: Choice) -> None:
        self.choices = list(choices)
        self.shown: list[str] = []

    def begin(self, number: int, step: Step, lab: Lab) -> None:
        del lab
        self.shown.append(f"{number} {step.name}")

    def choose(self, by_hand: bool) -> Choice:
        assert by_hand == self.shown[-1].endswith((" one", " one.txt"))
        return self.choices.pop(0)

    def report_missing(self, names: Sequence[str]) -> None:
        self.shown += [f"missing {Path(name).name}" for name in names]

    def end(self, step: Step, result: StepResult) -> None:
        self.shown.append(f"{step.name}: {' '.join(result.said)}")

    def say(self, text: str) -> None:
        self.shown.append(text)

    def ask(self, question: str) -> str:
        del question
        return ""


@pytest.fixture(autouse=True)
def four_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "STEPS", (One(), Two(), Three(), Other()))
    Numbered.ran.clear()


def test_a_stopped_lab_continues_at_the_next_step(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    assert not run_steps(lab, Scripted(Choice.RUN, Choice.STOP))
    assert list(load_state(tmp_path).done) == ["one"]
    lab = lab_in(tmp_path, done=load_state(tmp_path).done)
    display = Scripted(*[Choice.GO] * 3)
    assert run_steps(lab, display)
    assert display.shown == [
        *("2 two", "two: two", "3 three", "three: three", "4 other", "other: other")
    ]
    assert Numbered.ran == ["one", "two", "three", "other"]
    assert list(load_state(tmp_path).done) == ["one", "two", "three", "other"]


def test_an_interrupted_step_is_not_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Two, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_steps(lab_in(tmp_path), Scripted(Choice.RUN, Choice.GO))
    assert list(load_state(tmp_path).done) == ["one"]


def test_typed_results_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("typed by hand")
    display = Scripted(Choice.GO, Choice.STOP)
    run_steps(lab_in(tmp_path), display)
    assert "one: typed by hand" in display.shown
    assert Numbered.ran == []
    assert load_state(tmp_path).by_hand == {"one": True}


@pytest.mark.parametrize("content", [None, ""])
def test_missing_and_empty_files_are_reported(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "one.txt").write_text(content)
    display = Scripted(Choice.GO, Choice.RUN, Choice.STOP)
    run_steps(lab_in(tmp_path), display)
    assert display.shown[:3] == ["1 one", "missing one.txt", "one: one"]
    assert load_state(tmp_path).by_hand == {"one": False}


def test_repeating_a_step_forgets_whether_it_was_typed(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    run_steps(lab, Scripted(Choice.RUN, Choice.STOP))
    do_again(lab, "one")
    assert load_state(tmp_path).by_hand == {}


def test_repeating_a_step_repeats_its_dependents_and_deletes_nothing(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    run_steps(lab, Scripted(*[Choice.RUN] * 4))
    for times in (1, 2):
        do_again(lab, "two")
        assert list(load_state(tmp_path).done) == ["one", "other"]
        assert (tmp_path / f"earlier/two-{times}/two.txt").read_text() == "two"
        assert (tmp_path / f"earlier/three-{times}/three.txt").exists()
        assert run_steps(lab, Scripted(*[Choice.RUN] * 2))
    assert Numbered.ran == ["one", "two", "three", "other", *["two", "three"] * 2]


def test_an_unknown_step_is_refused_with_the_list_of_steps(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--again is four; it must be one of one, two, three"):
        do_again(lab_in(tmp_path), "four")

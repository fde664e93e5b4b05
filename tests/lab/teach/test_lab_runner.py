"""The runner: stopping, continuing and repeating steps; and commands that were not typed."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from regatta.errors import RegattaError, UsageError
from regatta.teach.lab import session
from regatta.teach.lab.console import GO, RUN, STOP
from regatta.teach.lab.session import do_again, run_steps
from regatta.teach.lab.state import StepResult, load_state
from regatta.teach.lab.step import Lab, Step, Typed
from tests.lab.fake_labs import lab_in

RAN: list[str] = []


def numbered(name: str, depends_on: tuple[str, ...] = ()) -> Step:
    """Writes its name into a file; the file's content is its result. Only `one` has a command."""
    file = f"{name}.txt"

    def run(lab: Lab) -> None:
        RAN.append(name)
        lab.path(file).write_text(name)

    return Step(
        name=name,
        title=f"The step {name}",
        text=("To read.",),
        questions=("Why?",),
        result=lambda lab: StepResult(said=(lab.text(file),)),
        commands=lambda lab: (
            [Typed(2, f"echo {name} > {lab.path(file)}", file)] if name == "one" else ()
        ),
        run=run,
        made=() if name == "one" else (file,),
        depends_on=depends_on,
    )


class Scripted:
    """A screen that plays back choices and records what it was shown."""

    def __init__(self, *choices: str) -> None:
        self.choices = list(choices)
        self.shown: list[str] = []

    def begin(self, number: int, of: int, step: Step, lab: Lab) -> None:
        assert (of, lab.folder.is_dir()) == (len(session.STEPS), True)
        self.shown.append(f"{number} {step.name}")

    def choose(self, by_hand: bool) -> str:
        assert by_hand == self.shown[-1].endswith((" one", " one.txt"))
        return self.choices.pop(0)

    def report_missing(self, names: Sequence[str]) -> None:
        self.shown += [f"missing {Path(name).name}" for name in names]

    def end(self, step: Step, result: StepResult) -> None:
        self.shown.append(f"{step.name}: {' '.join(result.said)}")


@pytest.fixture(autouse=True)
def four_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = (numbered("one"), numbered("two", ("one",)), numbered("three", ("two",)))
    monkeypatch.setattr(session, "STEPS", (*steps, numbered("other")))
    RAN.clear()


def test_a_stopped_lab_continues_at_the_next_step(tmp_path: Path) -> None:
    assert not run_steps(lab_in(tmp_path), Scripted(RUN, STOP))
    assert list(load_state(tmp_path).done) == ["one"]
    lab = lab_in(tmp_path, done=load_state(tmp_path).done)
    screen = Scripted(*[GO] * 3)
    assert run_steps(lab, screen)
    assert screen.shown == [
        *("2 two", "two: two", "3 three", "three: three", "4 other", "other: other")
    ]
    assert RAN == ["two", "three", "other"]
    assert list(load_state(tmp_path).done) == ["one", "two", "three", "other"]


def test_typed_results_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("typed by hand")
    screen = Scripted(GO, STOP)
    run_steps(lab_in(tmp_path), screen)
    assert "one: typed by hand" in screen.shown


@pytest.mark.parametrize("content", [None, ""])
def test_missing_and_empty_files_are_reported(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "one.txt").write_text(content)
    screen = Scripted(GO, RUN, STOP)
    run_steps(lab_in(tmp_path), screen)
    assert screen.shown[:3] == ["1 one", "missing one.txt", "one: one"]


def test_commands_without_a_result_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "run_typed", lambda _: None)
    with pytest.raises(RegattaError, match=r"got no answer: see .*one\.txt"):
        run_steps(lab_in(tmp_path), Scripted(RUN))
    assert not load_state(tmp_path).done


def test_repeating_a_step_repeats_its_dependents_and_deletes_nothing(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    run_steps(lab, Scripted(*[RUN] * 4))
    for times in (1, 2):
        do_again(lab, "two")
        assert list(load_state(tmp_path).done) == ["one", "other"]
        assert (tmp_path / f"earlier/two-{times}/two.txt").read_text() == "two"
        assert (tmp_path / f"earlier/three-{times}/three.txt").exists()
        assert run_steps(lab, Scripted(*[RUN] * 2))
    assert ["two", "three", "other", *["two", "three"] * 2] == RAN


def test_an_unknown_step_is_refused_with_the_list_of_steps(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--again is four; it must be one of one, two, three"):
        do_again(lab_in(tmp_path), "four")

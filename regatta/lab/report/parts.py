"""The report as plain data: what every form of it writes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from regatta.lab.kept import Kept, Printed
from regatta.lab.report.answers import Answers
from regatta.lab.setting import Setting, work_words
from regatta.lab.state import State
from regatta.lab.step import Step
from regatta.machine.environment import cpu_model, distribution, kernel, virtualisation
from regatta.report.text.numbers import plural
from regatta.report.text.printable import LINES, printable
from regatta.report.text.verdicts import listed

TITLE = "Which server design? A lab report"
NO_ANSWER = "…"


@dataclass(frozen=True)
class Piece:
    """Of a text of the lab's own: what stands between two backticks is code."""

    text: str
    is_code: bool


def pieces(text: str) -> list[Piece]:
    return [Piece(piece, bool(at % 2)) for at, piece in enumerate(text.split("`")) if piece]


@dataclass(frozen=True)
class AnsweredQuestion:
    text: str
    answer: str


@dataclass(frozen=True)
class Part:
    """One step."""

    title: str
    text: tuple[str, ...]
    kept: Kept
    questions: tuple[AnsweredQuestion, ...]


@dataclass(frozen=True)
class LabReport:
    title: str
    text: tuple[str, ...]
    """Paragraphs about the whole of it."""
    parts: tuple[Part, ...]


def parts_of(
    state: State, lacks: Sequence[str], steps: Sequence[Step], answers: Answers
) -> LabReport:
    """Of the steps that are done; the text says which are not."""
    left = [step.title for step in steps if step.name not in state.done]
    text = [question_of(state.setting), machine(), *lacks]
    if left:
        text.append(f"Not done yet: {listed(left)}.")
    return LabReport(
        TITLE,
        tuple(text),
        tuple(
            Part(
                f"{number}. {step.title}",
                step.text,
                shown(state.done[step.name]),
                tuple(
                    AnsweredQuestion(asked, answers.get((step.name, at), NO_ANSWER))
                    for at, asked in enumerate(step.questions, start=1)
                ),
            )
            for number, step in enumerate(steps, start=1)
            if step.name in state.done
        ),
    )


def shown(kept: Kept) -> Kept:
    """What commands printed is printed again line by line; all else goes through each form's own
    escaping."""
    printed = (Printed(one.command, printable(one.output, LINES)) for one in kept.printed)
    return replace(kept, printed=tuple(printed))


def question_of(setting: Setting) -> str:
    quick = " This was a quick lab: its race is too short to see small differences."
    return (
        f"Which of {listed(setting.designs)} needs the least CPU time on the server, when "
        f"{plural(setting.connections, 'client')} ask at once and each request is the work "
        f"{setting.work}? That is, for each request the server {work_words(setting.work)}."
        f"{quick if setting.quick else ''}"
    )


def machine() -> str:
    """Where it was measured, in a sentence."""
    virtual = virtualisation()
    parts = [
        cpu_model(),
        f"Linux {kernel()}",
        distribution(),
        f"a virtual machine ({virtual})" if virtual else None,
    ]
    return f"Measured on {', '.join(part for part in parts if part)}."

"""The report as plain data, from which all formats are written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from regatta.lab.report.answers import Answers
from regatta.lab.setting import Setting, work_words
from regatta.lab.state import State
from regatta.lab.step import Step
from regatta.lab.step_result import CommandOutput, StepResult
from regatta.machine.environment import cpu_model, distribution, kernel, virtualisation
from regatta.report.text.numbers import plural
from regatta.report.text.printable import LINES, printable
from regatta.report.text.verdicts import listed

TITLE = "Which server design? A lab report"
NO_ANSWER = "…"


@dataclass(frozen=True)
class Piece:
    """Part of one of the lab's own texts; text between backticks is code."""

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
    result: StepResult
    questions: tuple[AnsweredQuestion, ...]


@dataclass(frozen=True)
class LabReport:
    title: str
    text: tuple[str, ...]
    """Introductory paragraphs."""
    parts: tuple[Part, ...]


def parts_of(
    state: State, lacks: Sequence[str], steps: Sequence[Step], answers: Answers
) -> LabReport:
    """The finished steps; the introduction names the remaining ones."""
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


def shown(result: StepResult) -> StepResult:
    """Makes command output printable; all other text is escaped by each format."""
    printed = (CommandOutput(one.command, printable(one.output, LINES)) for one in result.printed)
    return replace(result, printed=tuple(printed))


def question_of(setting: Setting) -> str:
    quick = " This was a quick lab: its race is too short to detect small differences."
    verb = "sends" if setting.connections == 1 else "send"
    return (
        f"Which of {listed(setting.designs)} needs the least server CPU time when "
        f"{plural(setting.connections, 'client')} {verb} requests at the same time, with the work "
        f"{setting.work}? This means that for each request the server "
        f"{work_words(setting.work)}.{quick if setting.quick else ''}"
    )


def machine() -> str:
    """One sentence about the machine."""
    virtual = virtualisation()
    parts = [
        cpu_model(),
        f"Linux {kernel()}",
        distribution(),
        f"a virtual machine ({virtual})" if virtual else None,
    ]
    return f"Measured on {', '.join(part for part in parts if part)}."

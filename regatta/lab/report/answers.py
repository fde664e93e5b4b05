"""answers.md: where a person answers the questions, so that every form of the report has them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from regatta.lab import commands
from regatta.lab.step import Step
from regatta.report.text.whole_file import write_whole

FILE = "answers.md"
HEADING = re.compile(r"^## (\w[\w-]*) (\d+): .*$", re.MULTILINE)
INTRODUCTION = (
    "Write below each question, and call `{again}`: the report then has your answers.\n"
    "Leave the headings as they are.\n"
)
Answers = Mapping[tuple[str, int], str]
"""By step and number of the question, from 1."""


def begin_answers(folder: Path, steps: Sequence[Step]) -> None:
    """The file with all questions; one that is there already is the person's."""
    path = folder / FILE
    if path.exists():
        return
    asked = [
        f"\n## {step.name} {number}: {question}\n\n"
        for step in steps
        for number, question in enumerate(step.questions, start=1)
    ]
    introduction = INTRODUCTION.format(again=commands.lab(folder))
    write_whole(path, introduction + "".join(asked))


def read_answers(folder: Path) -> Answers:
    """Empty where the file is not there; a question without an answer is left out."""
    path = folder / FILE
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    found: dict[tuple[str, int], str] = {}
    headings = list(HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=True):
        answer = text[heading.end() : end].strip()
        if answer:
            found[heading[1], int(heading[2])] = answer
    return found

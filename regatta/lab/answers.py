"""answers.md: the student's answers, which go into every format of the report."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from regatta.lab import commands
from regatta.lab.step import Step
from regatta.ledger.files import write_whole

FILE = "answers.md"
HEADING = re.compile(r"^## (\w[\w-]*) (\d+): .*$", re.MULTILINE)
INTRODUCTION = (
    "Write your answer below each question, then run `{again}` to add the answers to the report.\n"
    "Do not change the headings.\n"
)
Answers = Mapping[tuple[str, int], str]
"""By step and number of the question, counted from 1."""


def begin_answers(folder: Path, steps: Sequence[Step]) -> None:
    """Writes the file with all questions, unless it exists already."""
    path = folder / FILE
    if path.exists():
        return
    asked = [
        f"\n## {step.name} {number}: {question}\n\n"
        for step in steps
        for number, question in enumerate(step.questions, start=1)
    ]
    introduction = INTRODUCTION.format(again=commands.lab_command(folder))
    write_whole(path, introduction + "".join(asked))


def read_answers(folder: Path) -> Answers:
    """Without questions that have no answer; empty if there is no file."""
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

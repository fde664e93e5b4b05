"""The report of a lab as Markdown, with the student's answers; HTML, LaTeX and PDF are converted
from it.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from regatta.measure.environment import cpu_model, distribution, kernel, virtualisation
from regatta.record.files import write_whole
from regatta.show.markdown import Writer
from regatta.show.numbers import plural
from regatta.show.paper import convert
from regatta.show.pictures import draw
from regatta.show.text import LINES, marked_up, printable
from regatta.show.verdicts import listed
from regatta.show.view import Section
from regatta.teach.lab.state import LabSetting, StepResult, lab_command
from regatta.teach.lab.step import Lab, Step

READINGS = {
    "scan": "reads all of /proc again",
    "classic": "reads all of /proc again, with opendir, fopen and fscanf",
    "snapshot": "answers from a snapshot of /proc that several requests share",
}
"""What the server does for each request, in works without a pause."""
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
    introduction = INTRODUCTION.format(again=lab_command(folder))
    write_whole(path, introduction + "".join(asked))


def read_answers(folder: Path) -> Answers:
    """Without questions that have no answer; empty if there is no file."""
    path = folder / FILE
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    _, *parts = HEADING.split(text)
    answers = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return {(step, int(at)): answer.strip() for step, at, answer in answers if answer.strip()}


TITLE = "Which server design? A lab report"
NO_ANSWER = "…"
PICTURES = "pictures"


def write_report(lab: Lab, steps: Sequence[Step]) -> None:
    """Writes report.md, .html, .tex and .pdf, and their pictures."""
    begin_answers(lab.folder, steps)
    lab.path(PICTURES).mkdir(exist_ok=True)
    for result in lab.state.done.values():
        for chart in result.charts:
            draw(chart, lab.path(PICTURES))
    text = markdown(lab, steps, read_answers(lab.folder))
    with TemporaryDirectory(prefix=".regatta-", dir=lab.folder) as inside:
        for path in convert(text, TITLE, Path(inside) / "report", lab.folder, page=True):
            write_whole(lab.path(path.name), path.read_bytes())


def markdown(lab: Lab, steps: Sequence[Step], answers: Answers) -> str:
    """The finished steps; the introduction names the remaining ones."""
    done = lab.state.done
    left = [step.title for step in steps if step.name not in done]
    text = [question_of(lab.setting), machine(), *lab.tools.lacks]
    text += [f"Not done yet: {listed(left)}."] if left else []
    lines = [line for paragraph in text for line in (marked_up(paragraph), "")]
    for number, step in enumerate(steps, start=1):
        if step.name in done:
            section = section_of(number, step, done[step.name], answers)
            files = {chart.name: f"{PICTURES}/{chart.name}.svg" for chart in section.charts}
            lines += Writer(charts=files).section(section, 2)
    return "\n".join(lines)


def section_of(number: int, step: Step, result: StepResult, answers: Answers) -> Section:
    """Sentences about the result and the questions follow its tables and pictures."""
    below = [marked_up(sentence) for sentence in result.said]
    for at, question in enumerate(step.questions, start=1):
        below.append(f"**Question {at}.** {marked_up(question)}")
        below.append(answers.get((step.name, at), NO_ANSWER))
    printed = (f"$ {shown.command}\n{printable(shown.output, LINES)}\n" for shown in result.printed)
    return Section(
        f"{number}. {step.title}",
        text=step.text,
        printed="\n".join(printed),
        tables=result.tables,
        charts=result.charts,
        markdown="\n\n".join(below),
    )


def question_of(setting: LabSetting) -> str:
    quick = " This was a quick lab: its race is too short to detect small differences."
    verb = "sends" if setting.connections == 1 else "send"
    doing = READINGS.get(setting.work)
    means = f" This means that for each request the server {doing}." if doing else ""
    return (
        f"Which of {listed(setting.designs)} needs the least server CPU time when "
        f"{plural(setting.connections, 'client')} {verb} requests at the same time, with the work "
        f"{setting.work}?{means}{quick if setting.quick else ''}"
    )


def machine() -> str:
    virtual = virtualisation()
    parts = [
        cpu_model(),
        f"Linux {kernel()}",
        distribution(),
        f"a virtual machine ({virtual})" if virtual else None,
    ]
    return f"Measured on {', '.join(part for part in parts if part)}."

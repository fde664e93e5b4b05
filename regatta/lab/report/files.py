"""Writes the files of a lab's report after each step."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from markupsafe import Markup

from regatta.lab.report.answers import begin_answers, read_answers
from regatta.lab.report.latex import to_latex
from regatta.lab.report.markdown import to_markdown
from regatta.lab.report.parts import LabReport, parts_of, pieces
from regatta.lab.report.pictures import pdf, svg
from regatta.lab.step import Lab, Step
from regatta.lab.step_result import Picture
from regatta.report.page.html import environment
from regatta.report.paper.pdf import typeset
from regatta.report.text.atomic_write import write_whole


def to_html(report: LabReport) -> str:
    template = environment("regatta.lab.report").get_template("report.html.j2")
    return template.render(report=report, drawn=drawn, pieces=pieces)


def drawn(picture: Picture) -> Markup:
    """Safe: the renderer has escaped all text."""
    return Markup(svg(picture))


PICTURES = "pictures"


def write_report(lab: Lab, steps: Sequence[Step]) -> None:
    """Writes report.md, .html, .tex and .pdf, and their pictures."""
    begin_answers(lab.folder, steps)
    answers = read_answers(lab.folder)
    report = parts_of(lab.state, lab.tools.lacks, steps, answers)
    drawn = [picture for part in report.parts for picture in part.result.pictures]
    pdfs = {picture.name: pdf(picture) for picture in drawn}
    lab.path(PICTURES).mkdir(exist_ok=True)
    for picture in drawn:
        write_whole(lab.path(PICTURES) / f"{picture.name}.svg", svg(picture))
        write_whole(lab.path(PICTURES) / f"{picture.name}.pdf", pdfs[picture.name])
    made = {
        "report.md": to_markdown(report).encode(),
        "report.html": to_html(report).encode(),
        "report.tex": to_latex(report).encode(),
        "report.pdf": typeset("regatta.lab.report", asdict(report), pdfs),
    }
    # Before writing: if the lab is killed meanwhile, it still recognizes its own files.
    lab.remember(written=tuple({*lab.state.written, *map(digest, made.values())}))
    for name, content in made.items():
        put_aside(lab.path(name), lab.state.written)
        write_whole(lab.path(name), content)


def put_aside(path: Path, written: Collection[str]) -> None:
    """Renames a file that the student has edited, instead of overwriting it."""
    if not path.exists() or digest(path.read_bytes()) in written:
        return
    number = 1
    while (aside := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
        number += 1
    path.rename(aside)


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()

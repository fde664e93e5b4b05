"""The files of a lab's report, made anew after each step."""

from collections.abc import Collection, Sequence
from hashlib import sha256
from pathlib import Path

from regatta.lab.report.answers import begin_answers, read_answers
from regatta.lab.report.html import to_html
from regatta.lab.report.markdown import to_markdown
from regatta.lab.report.parts import parts_of
from regatta.lab.report.pictures import svg
from regatta.lab.step import Desk, Step
from regatta.report.text.whole_file import write_whole

PICTURES = "pictures"


def write_report(desk: Desk, steps: Sequence[Step]) -> None:
    """Writes report.md and report.html, and the pictures that the first of them names."""
    begin_answers(desk.folder, steps)
    answers = read_answers(desk.folder)
    report = parts_of(desk.state, desk.tools.lacks, steps, answers)
    desk.path(PICTURES).mkdir(exist_ok=True)
    for picture in (picture for part in report.parts for picture in part.kept.pictures):
        write_whole(desk.path(PICTURES) / f"{picture.name}.svg", svg(picture))
    texts = {"report.md": to_markdown(report), "report.html": to_html(report)}
    made = {name: digest(text.encode()) for name, text in texts.items()}
    # Before they are written: a lab that is stopped meanwhile must know its own.
    desk.remember(written=tuple({*desk.state.written, *made.values()}))
    for name, text in texts.items():
        put_aside(desk.path(name), desk.state.written)
        write_whole(desk.path(name), text)


def put_aside(path: Path, written: Collection[str]) -> None:
    """A file that a person has changed is theirs: it gets a name of its own."""
    if not path.exists() or digest(path.read_bytes()) in written:
        return
    number = 1
    while (aside := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
        number += 1
    path.rename(aside)


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()

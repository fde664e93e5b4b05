"""Each renderer draws all of the view that it has to: what is true in one is true in all."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis
from regatta.record.inputs import Baseline, RaceInputs
from regatta.record.read import read
from regatta.show.build import view_of
from regatta.show.html import to_html
from regatta.show.markdown import Writer, to_markdown
from regatta.show.terminal import print_view
from regatta.show.text import marked_up, printable
from regatta.show.view import APPENDIX, FOLDED, OPEN, Screen, Section, Table, View, plain_table
from tests.lab import reports
from tests.lab.synthetic import make
from tests.lab.synthetic_claims import all_kinds
from tests.lab.synthetic_held import add_held

NASTY = "<b>a|b</b> & *stars* \x1b[31m `code` [x](y) #1 $y$"


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """Of a race in which much went wrong, with claims, a baseline and held rates."""
    path = tmp_path_factory.mktemp("race") / "ledger.sqlite"
    make(
        path,
        contenders=["select", "iterative", "thread-per-client"],
        connections=[5, 10],
        blocks=6,
        requests=40,
        fail={("select", 10, 1)},
        fail_reason=NASTY,
        client_bound={("iterative", 5, 2)},
        disturbed={("thread-per-client", 10, 3)},
        environment={"left_out": {"uring": NASTY}, "mitigations": {"a": "Vulnerable"}},
        inputs=RaceInputs(baseline=Baseline("iterative", None)),
    )
    return replace(analyse(read(add_held(path))), claims=all_kinds())


@pytest.fixture(scope="module")
def view(analysis: Analysis) -> View:
    return view_of(analysis)


def texts(section: Section) -> Iterator[str]:
    """All that a section says by itself."""
    yield from (section.title, section.says, *section.text, *section.quiet)
    for table in section.tables:
        yield from table_texts(table)


def table_texts(table: Table) -> Iterator[str]:
    yield from (table.title, table.says)
    for heading in table.header:
        yield from (heading.title, heading.unit)
    for row in table.rows:
        yield from (row.name, row.mark, *row.remarks)
        for figure in row.figures:
            yield from (figure.value, figure.interval, figure.level, figure.mark)


def drawn(view: View, rank: int) -> set[str]:
    """All that a renderer must have which shows sections up to this rank."""

    def below(section: Section) -> Iterator[Section]:
        if section.rank <= rank and any(map(has_text, section.every())):
            yield section
            for inner in section.sections:
                yield from below(inner)

    def has_text(section: Section) -> bool:
        return bool(section.says or section.text or section.tables)

    sections = [section for top in view.sections for section in below(top)]
    found = {text for section in sections for text in texts(section)}
    return {text for text in (*found, *(note.sentence for note in view.notes)) if text}


def words(text: str) -> str:
    return " ".join(text.split())


def test_markdown_has_all_but_the_appendix(view: View) -> None:
    text = words(to_markdown(view))
    missing = [wanted for wanted in drawn(view, FOLDED) if marked_up(wanted) not in text]
    assert missing == []


def test_a_terminal_has_the_same(view: View) -> None:
    text = words(reports.printed(print_view, view, width=2_000))
    missing = [wanted for wanted in drawn(view, FOLDED) if words(printable(wanted)) not in text]
    assert missing == []


def test_the_page_has_everything(view: View) -> None:
    page = to_html(view)
    shown = words(html.unescape(re.sub(r"</?(code|small|span|svg|path|button)[^>]*>", "", page)))
    plain = {words(printable(wanted).replace("`", "")) for wanted in drawn(view, APPENDIX)}
    missing = [wanted for wanted in plain if wanted not in shown]
    assert missing == []
    for chart in view.charts():
        assert page.count(f'data-chart="{chart.name}-0"') == 1


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(view: View, width: int) -> None:
    lines = reports.printed(print_view, view, width=width).splitlines()
    assert max(map(len, lines)) <= width


def test_names_are_no_markup() -> None:
    section = Section(NASTY, NASTY, (NASTY,), (plain_table(NASTY, NASTY, [NASTY], [[NASTY]]),))
    screen = Screen((NASTY,), (), NASTY, (NASTY,))
    view = View(NASTY, (NASTY,), {NASTY: NASTY}, (), screen, (section,))
    page, text = to_html(view), to_markdown(view)
    assert "<b>a" not in page + text
    assert "\x1b" not in page + text + reports.printed(print_view, view)
    assert "*stars*" not in text
    assert "<code>code</code>" in page
    assert "`code`" in text


def test_a_wide_table_is_split_and_says_once_how_it_is_read() -> None:
    table = plain_table("A table", "To be read.", ["design", *"abcde"], [["x", *"12345"]])
    parts = list(table.parts(lambda part: len(part.header) <= 3))
    assert [[heading.title for heading in part.header] for part in parts] == [
        ["design", "a", "b"],
        ["design", "c", "d"],
        ["design", "e"],
    ]
    assert [[figure.value for figure in part.rows[0].figures] for part in parts] == [
        ["1", "2"],
        ["3", "4"],
        ["5"],
    ]
    assert [part.says for part in parts] == ["", "", "To be read."]


def test_a_brief_writer_leaves_out_what_does_not_decide() -> None:
    inner = (Section("open", says="o", rank=OPEN), Section("long", says="l", rank=APPENDIX))
    section = Section("all", says="a", sections=inner)
    assert [line for line in Writer(0).section(section, 2) if line] == ["## all", "**a**"]
    assert "### long" in list(Writer(APPENDIX).section(section, 2))


def test_a_table_of_markdown_keeps_its_shape(view: View) -> None:
    text = to_markdown(view)
    tables = [table.splitlines() for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)]
    assert len(tables) > 5
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1, table[0]


def test_every_link_of_a_note_leads_somewhere(view: View) -> None:
    names = {section.name for section in view.every()}
    assert {note.link for note in view.notes if note.link} <= names
    assert sum(bool(note.link) for note in view.notes) >= 3

"""Tables on terminals of any width: every figure is there, whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from regatta.show.terminal import print_table
from tests.lab import reports

WORDS = st.lists(st.text("abcxyz0189.–", min_size=1, max_size=9), min_size=1, max_size=4)
CELLS = st.tuples(WORDS, st.sampled_from([" ", "\n"])).map(lambda made: made[1].join(made[0]))
TABLES = st.integers(2, 6).flatmap(
    lambda columns: st.lists(
        st.lists(CELLS, min_size=columns, max_size=columns), min_size=2, max_size=5
    )
)


def table_of(rows: list[list[str]], stiff: int = 0) -> Table:
    """The first row is the header; the column `stiff` must not wrap."""
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    for number, name in enumerate(rows[0]):
        table.add_column(name, overflow="fold", no_wrap=number == stiff, min_width=number)
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    return table


def shown(table: Table, width: int) -> str:
    return reports.printed(print_table, table, width=width)


@settings(max_examples=60)
@given(rows=TABLES, stiff=st.integers(0, 5), width=st.integers(48, 140))
def test_no_word_is_cut_and_no_line_is_longer_than_the_terminal(
    rows: list[list[str]], stiff: int, width: int
) -> None:
    text = shown(table_of(rows, stiff), width)
    words = text.split()
    (_, *header), *others = rows  # a list has no place for the first column's name
    for cell in [*header, *(text for row in others for text in row)]:
        for word in cell.split():
            assert word in words
            words.remove(word)
    assert all(len(line) <= width for line in text.splitlines())


ROWS = [
    ["server", "CPU\nµs/request", "what it is", "verdict"],
    ["one.py", "57.1\n56.0–58.2", "a server of one thread", "no regression"],
    ["two.py", "61.9\n60.1–63.7", "a server of two threads", "no regression"],
]


@pytest.mark.parametrize(("width", "is_table"), [(80, True), (52, True), (40, False)])
def test_a_table_without_room_is_a_list(width: int, is_table: bool) -> None:
    text = shown(table_of(ROWS, stiff=3), width)
    assert ("one.py" in text.splitlines()) is not is_table
    assert text.split().count("regression") == 2
    if not is_table:
        lines = [line.rstrip() for line in text.splitlines()]
        at = lines.index("one.py")
        assert lines[at + 1] == "  CPU µs/request  57.1  56.0–58.2"

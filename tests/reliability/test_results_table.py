"""The table in docs/reliability.md."""

from tests.reliability import table
from tests.servers import table as listed_designs


def test_the_page_shows_the_results_in_docs_measured() -> None:
    """If not: python -m tests.reliability.table"""
    assert table.shown(table.PAGE.read_text()) == table.table()


def test_the_table_has_a_row_for_each_design() -> None:
    rows = [line.split("|")[0].strip("`") for line in list(table.lines())[2:]]
    assert sorted(rows) == sorted(design.name for design in listed_designs())

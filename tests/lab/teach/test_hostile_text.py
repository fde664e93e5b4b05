"""Texts of any kind: no reader and no check breaks on them, or needs more than their length."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.errors import UsageError
from regatta.teach.review.review import read_lines
from tests.lab.teach.found import FIXTURES, findings

OF_PERF = (
    *("5 ", "1,234 ", "102.63 ", "msec ", "cycles ", "task-clock ", "# ", "GHz ", "K/sec "),
    *("(5.00%) ", "seconds time elapsed", "tma_retiring ", "( +- 1.0% ) ", ",", "  ", "\n"),
)
OF_TABLES = (
    *("|", "| design | cycles |", "|---|---|", "| --- |", "\n", "\\", "\\|", "5", "1,234", "**"),
    *("9" * 70, "cycles", "task-clock", "`", "_", "&#124;", "<br>", "> ", ":-:", "metric"),
)
OF_LOADS = [
    line
    for path in sorted((FIXTURES / "load").glob("*.txt"))
    for line in path.read_text().splitlines(keepends=True)
]


def scraps(of: tuple[str, ...] | list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(of), max_size=40).map("".join)


@given(
    scraps(OF_PERF)
    | scraps(OF_TABLES)
    | scraps(OF_LOADS)
    | st.text(max_size=300)
    | st.binary(max_size=300).map(lambda some: some.decode("latin-1"))
)
def test_scraps_in_any_order_break_no_reader_and_no_check(text: str) -> None:
    with contextlib.suppress(UsageError):
        if read_lines("a file", text.splitlines()) is not None:
            found = [(case.says, case.printed, case.computed) for case in findings(text)]
            json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    "lines",
    [
        *([line, "5 cycles"] for line in ("1 " * 500_000, "1," * 500_000, "# " * 500_000)),
        ["5 cycles" + " " * 900_000],
        *([line] * 2_000 for line in ("Running" + " " * 390, "Running" + " test" * 78)),
        ["| a | b |", "| - | - |", *["| " + "_" * 19_000 + "a | 5 |"] * 100],
        ["| cycles | b |", "| - | - |", *["| a" + "_" * 19_000 + "a | 5 |"] * 100],
        ["| cycles | b |", "| - | - |", *["| " + "\\" * 19_000 + " | 5 |"] * 100],
        ["| " + "-" * 19_000 + "x |", "|" + "-" * 19_000 + "x|"],
    ],
    ids=range(10),
)
def test_a_long_line_costs_no_more_than_its_length(lines: list[str]) -> None:
    """The square of it would take minutes."""
    with contextlib.suppress(UsageError):
        read_lines("a file", lines)

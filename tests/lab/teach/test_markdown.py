"""Tables as Markdown has them become the same records as CSV; what is torn is said, not guessed."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.errors import UsageError
from regatta.teach.review import review
from regatta.teach.review.figures import Record
from regatta.teach.review.finding import NOT_SHOWN
from regatta.teach.review.reading.table import cells_of
from regatta.teach.review.review import read, read_lines
from tests.lab.teach.found import contradictions, findings, named, reading
from tests.lab.teach.printed import LOCALES, perf_text
from tests.lab.teach.test_published import PUBLISHED, rows

RULE = "| --- | ---: | ---: |"


def values(record: Record) -> dict[str, float]:
    return {name: figure.value for name, figure in record.figures.items()}


def table(*lines: str, header: str = "| Design | Task clock (ms) | Cycles |") -> str:
    return "\n".join([header, RULE, *lines, ""])


def test_a_table_in_prose_is_read_by_its_headings() -> None:
    results = table("| select | 238.58 | 829,282,372 |")
    text = f"# Results\n\nAs measured:\n{results}\nSo | so.\n"
    found = reading(text)
    (record,) = found.records
    assert (found.form, record.line, dict(record.keys)) == (
        "Markdown table",
        6,
        {"design": "select"},
    )
    assert values(record) == {"task_clock": pytest.approx(0.23858), "cycles": 829_282_372}


@pytest.mark.parametrize("locale", LOCALES)
def test_its_numbers_are_read_in_every_locale(locale: str) -> None:
    write = LOCALES[locale]
    row = f"| a | {write.decimal(1238.58, 2)} | {write.whole(829_282_372)} |"
    (record,) = reading(table(row)).records
    assert values(record) == {"task_clock": pytest.approx(1.23858), "cycles": 829_282_372}


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| a | b |", ["a", "b"]),
        ("a|b", ["a", "b"]),
        ("| a | |", ["a", ""]),
        ("|| b", ["", "b"]),
        (r"| a \| b | `c\|d` |", ["a | b", "c|d"]),
        (r"| a \\| b |", ["a \\", "b"]),
        ("| **1,234** | `cycles` | _a_ | b_c | x\\_y |", ["1,234", "cycles", "a", "b_c", "x_y"]),
        ("| 12.3<br>± 0.4 | 1&nbsp;234 | ~~5~~ |", ["12.3 ± 0.4", "1\u00a0234", "5"]),
        ("> | a | b |", ["a", "b"]),
        ("| a | b \\", ["a", "b \\"]),
    ],
)
def test_a_row_is_split_at_its_pipes_and_freed_of_marks(line: str, cells: list[str]) -> None:
    assert cells_of(line) == cells


def test_a_pipe_within_a_cell_is_no_end_of_it() -> None:
    (record,) = reading(table(r"| select \| epoll | 10 | **5 M** |")).records
    assert (record.label, values(record)["cycles"]) == ("select | epoll", 5e6)


def test_rows_with_more_cells_than_headings_are_named_and_not_guessed_at() -> None:
    text = table("| a | 10 | 5 |", "| b | 1 | 0 | 6 |", "| c | 1 | 0 | 7 |", "| d | 10 | 7 |")
    assert [one.label for one in reading(text).records] == ["a", "d"]
    assert contradictions(text) == []
    (found,) = named("torn", text)
    assert (found.check.kind, found.line) == (NOT_SHOWN, 4)
    assert found.says == (
        "4 cells under 3 headings: `b | 1 | 0 | 6`. The row was not checked. "
        "The same holds for 1 other row."
    )


def test_a_row_with_fewer_cells_than_headings_ends_in_empty_ones() -> None:
    text = table("| a | 10 | 5 |", "| c | 10 |", "| d | 20", "|")
    first, short, last = reading(text).records
    assert values(first) == {"task_clock": pytest.approx(0.01), "cycles": 5}
    assert (short.label, values(short)) == ("c", {"task_clock": pytest.approx(0.01)})
    assert (last.label, values(last)) == ("d", {"task_clock": pytest.approx(0.02)})
    assert {one.check.name for one in findings(text)} == {"one-run"}
    turned = "| Counter | a | b |\n|---|---|---|\n| cycles | 5 |\n| branches | 1 | 2 |\n"
    assert [values(one) for one in reading(turned).records] == [
        {"cycles": 5, "branches": 1},
        {"branches": 2},
    ]


@pytest.mark.parametrize("huge", ["9" * 70, "1e30", "9" * 400, "1e-300"])
def test_a_number_beyond_all_is_named(huge: str) -> None:
    (found,) = contradictions(table(f"| a | 10 | {huge} |", "| b | 10 | 5 |"))
    assert (found.check.name, found.line) == ("unread", 3)


@pytest.mark.parametrize(
    "text",
    [
        "| a | 10 | 5 |\n| b | 10 | 6 |\n",
        "| --- | --- |\n| cycles | 5 |\n",
        "|  |  |\n| --- | --- |\n| a | 5 |\n",
        "| design | cycles |\n| a | 5 |\n",
        "| design | cycles |\n| --- | --- | --- |\n| a | 5 |\n",
        "| design | cycles |\n| --- | -x- |\n| a | 5 |\n",
        "| design | cycles |\n| --- | --- |\n",
        "|\n|\n|\n",
    ],
)
def test_a_table_without_a_heading_or_a_figure_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.md"
    path.write_text(text)
    with pytest.raises(UsageError, match="a table \\(CSV or Markdown\\) with a heading"):
        read(str(path))


def test_rows_of_two_tables_are_not_compared() -> None:
    fast, slow = "| a | 17.35 | 74061248 |", "| b | 20.52 | 72927439 |"
    assert named("ranks", table(fast, slow)) != []
    assert named("ranks", table(fast) + "\n" + table(slow)) == []
    assert len({one.place for one in reading(table(fast) + "\n" + table(slow)).records}) == 2


def test_what_perf_printed_beside_a_table_is_read_too() -> None:
    pasted = perf_text({"task_clock_ms": 17.35, "elapsed_s": 1.0, "cycles": 74061248}, command="a")
    found = reading(f"{table('| a | 17.35 | 74061248 |')}\n```\n{pasted}```\n")
    assert found.form == "perf stat, Markdown table"
    assert [one.figures["cycles"].line for one in found.records] == [3, 10]


def test_lines_of_perf_stat_that_pipes_separate_are_no_table() -> None:
    lines = "value|unit|event|time|share\n---|---|---|---|---\n416830285||cycles|526544|100.00\n"
    found = reading(lines)
    assert (found.form, values(found.records[0])["cycles"]) == ("perf stat -x", 416_830_285)


TURNED = """
| Counter | iterative | select | unit |
| --- | ---: | ---: | --- |
| connections | 100 | 100 | |
| task-clock (ms) | 297.78 | 238.58 | ms |
| cycles | 826,419,040 | 829,282,372 | |
| cheese | 1 | 2 | |
| branches | – | 51 M | |
"""


def test_a_table_with_a_column_for_each_run_is_read() -> None:
    iterative, select = reading(TURNED).records
    assert dict(iterative.keys) == {"design": "iterative", "connections": "100"}
    assert values(iterative) == {"task_clock": pytest.approx(0.29778), "cycles": 826_419_040}
    assert values(select)["branches"] == 51e6
    assert [figure.line for figure in select.figures.values()] == [5, 6, 8]
    assert iterative.place != select.place
    (found,) = named("ranks", TURNED)
    assert found.says.startswith("select took 238.6 ms and iterative 297.8 ms")
    as_csv = "counter,iterative,select\ncycles,5,6\n"
    assert [values(one)["cycles"] for one in reading(as_csv).records] == [5, 6]


def test_five_reports_as_markdown_give_the_same_findings(tmp_path: Path) -> None:
    header = list(rows()[0])
    lines = [header, ["---"] * len(header), *(row.values() for row in rows())]
    path = tmp_path / "reports.md"
    path.write_text("\n".join(f"| {' | '.join(cells)} |" for cells in lines))
    found, whole = review([str(path)]), review([str(PUBLISHED)])
    assert (found.figures, found.runs) == (whole.figures, whole.runs)
    assert [(one.check.name, one.says) for one in found.findings] == [
        (one.check.name, one.says) for one in whole.findings
    ]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["| a | 1 | 5 |"] * 100_001, "may have 100,000 rows"),
        (["| x " * 201 + "|"], "200 columns"),
    ],
)
def test_a_table_beyond_all_is_refused_in_one_line(lines: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        reading(table(*lines))


SCRAPS = (
    *("|", "| design | cycles |", "|---|---|", "| --- |", "\n", "\\", "\\|", "5", "1,234", "**"),
    *("9" * 70, "cycles", "task-clock", "`", "_", "&#124;", "<br>", "> ", ":-:", "metric"),
)


@given(st.lists(st.sampled_from(SCRAPS), max_size=40))
def test_scraps_of_tables_in_any_order_break_no_reader(scraps: list[str]) -> None:
    text = "".join(scraps)
    with contextlib.suppress(UsageError):
        if read_lines("a file", text.splitlines()) is not None:
            found = [(one.says, one.printed, one.computed) for one in findings(text)]
            json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("cell", ["_" * 19_000 + "a", "a" + "_" * 19_000 + "a", "\\" * 19_000])
def test_a_long_row_costs_no_more_than_its_length(cell: str) -> None:
    """The square of it would take minutes."""
    found = reading(table(*[f"| {cell} | 10 | 5 |"] * 100))
    assert len(found.records) == 100
    assert read_lines("a file", ["| " + "-" * 19_000 + "x |", "|" + "-" * 19_000 + "x|"]) is None

"""Tables in CSV and Markdown: a row or a column for each run; what is no figure is named."""

from pathlib import Path

import pytest

from regatta.errors import UsageError
from regatta.teach.review.finding import NOT_SHOWN
from regatta.teach.review.reading.table import cells_of
from regatta.teach.review.review import read, read_lines
from tests.lab.teach.found import FIXTURES, checks, contradictions, named, reading, values
from tests.lab.teach.printed import LOCALES, perf_text

RULE = "| --- | ---: | ---: |"


def table(*lines: str, header: str = "| Design | Task clock (ms) | Cycles |") -> str:
    return "\n".join([header, RULE, *lines, ""])


CSV = """# a comment
design;clients;task-clock (ms);Cycles;Branch misses;instructions per cycle;notes

select;100;238,58;829.282.372;806.342;1,50;x
iterative;100;297,78 ± 3;826,4 M;<not supported>;;y
"""


def test_a_table_is_read_by_its_headings() -> None:
    first, second = reading(CSV).records
    assert (first.line, second.line) == (4, 5)
    assert dict(first.keys) == {"design": "select", "connections": "100"}
    assert values(first) == {
        "task_clock": pytest.approx(0.23858),
        "cycles": 829_282_372,
        "branch_misses": 806_342,
        "instructions_per_cycle": 1.5,
    }
    assert values(second) == pytest.approx({"task_clock": 0.29778, "cycles": 826.4e6})
    assert (first.repeated, second.repeated) == (False, True)


@pytest.mark.parametrize(
    ("heading", "cell", "name", "value"),
    [
        ("cycles", "2", "cycles", 2),
        ("page-faults", "2", "page_faults", 2),
        ("Branches (M/sec)", "2", "branches_per_s", 2e6),
        ("instructions_per_second", "2", "instructions_per_s", 2),
        ("branch-misses %", "2", "branch_misses_percent", 2),
        ("cache_miss_rate", "2", "cache_misses_percent", 2),
        ("IPC", "2", "instructions_per_cycle", 2),
        ("Clock [GHz]", "2", "ghz", 2),
        ("CPUs utilized", "2", "cpus_utilized", 2),
        ("wall time (ms)", "2", "elapsed", 2e-3),
        ("user_s", "2", "user", 2),
        ("task-clock", "2", "task_clock", 2e-3),
        ("elapsed", "2", "elapsed", 2),
        ("tma_retiring_percent", "2", "tma_retiring", 2),
        ("Backend bound", "2", "tma_backend_bound", 2),
        ("task_clock_us", "2", "task_clock", 2e-6),
        ("RPS", "40.5k", "rate", 40_500),
        ("Requests/sec", "1,234.5 req/s", "rate", 1234.5),
        ("p99.9 (us)", "12", "p99.9", 12e-6),
        ("Latency p95", "3.2 ms", "p95", 3.2e-3),
        ("99th percentile", "3ms", "p99", 3e-3),
        ("mean latency (ms)", "3", "mean", 3e-3),
        ("median_ms", "3", "p50", 3e-3),
        ("non-2xx", "3", "errors", 3),
    ],
)
def test_a_heading_says_what_a_column_holds(
    heading: str, cell: str, name: str, value: float
) -> None:
    (record,) = reading(f"design;{heading};cpu_time;latency_ms\nselect;{cell};1;2\n").records
    assert values(record) == {name: pytest.approx(value)}, "and the others say nothing"


@pytest.mark.parametrize("locale", LOCALES)
def test_a_table_in_prose_is_read_in_every_locale(locale: str) -> None:
    write = LOCALES[locale]
    row = f"| a | {write.decimal(1238.58, 2)} | {write.whole(829_282_372)} |"
    found = reading(f"# Results\n\nAs measured:\n{table(row)}\nSo | so.\n")
    (record,) = found.records
    assert (found.form, record.line, dict(record.keys)) == ("Markdown table", 6, {"design": "a"})
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


def test_rows_with_more_cells_than_headings_are_named_and_not_guessed_at() -> None:
    text = table("| a | 10 | 5 |", "| b | 1 | 0 | 6 |", "| c | 1 | 0 | 7 |", "| d | 10 | 7 |")
    assert [record.label for record in reading(text).records] == ["a", "d"]
    assert contradictions(text) == []
    (found,) = named("torn", text)
    assert (found.check.kind, found.line) == (NOT_SHOWN, 4)
    assert found.says == (
        "4 cells under 3 headings: `b | 1 | 0 | 6`. The row was not checked. "
        "The same holds for 1 other row."
    )


def test_a_row_with_fewer_cells_than_headings_ends_in_empty_ones() -> None:
    text = table("| a | 10 | 5 |", "| c | 10 |", "| d | 20", "|")
    assert [values(record) for record in reading(text).records] == [
        {"task_clock": pytest.approx(0.01), "cycles": 5},
        {"task_clock": pytest.approx(0.01)},
        {"task_clock": pytest.approx(0.02)},
    ]
    assert checks(text) == {"one-run"}


@pytest.mark.parametrize("huge", ["9" * 70, "1e30", "9" * 400, "1e-300", "about 7", "44.8 K/sec"])
def test_what_is_no_number_of_it_is_named(huge: str) -> None:
    (found,) = contradictions(table(f"| a | 10 | {huge} |", "| b | 10 | 5 |", "| c | 1 | 5 ms |"))
    assert (found.check.name, found.line) == ("unread", 3)
    assert found.says.endswith("under `Cycles` cannot be read. The same holds for 1 other cell.")


@pytest.mark.parametrize(
    "cell",
    ["not supported", "Not counted", "failed", "not&nbsp;supported", "<not supported>"]
    + ["&lt;not counted&gt;", "`<not supported>`"],
)
def test_what_was_not_counted_is_no_number_that_cannot_be_read(cell: str) -> None:
    found = reading(table(f"| a | 5 | {cell} |", header="| Design | Cycles | Branches |"))
    assert [values(record) for record in found.records] == [{"cycles": 5}]
    assert found.odd == ()


def test_rows_of_two_tables_are_not_compared() -> None:
    fast, slow = "| a | 17.35 | 74061248 |", "| b | 20.52 | 72927439 |"
    assert named("ranks", table(fast, slow)) != []
    assert named("ranks", table(fast) + "\n" + table(slow)) == []
    assert len({record.place for record in reading(table(fast) + "\n" + table(slow)).records}) == 2


def test_what_perf_printed_beside_a_table_is_read_too() -> None:
    pasted = perf_text({"task_clock_ms": 17.35, "elapsed_s": 1.0, "cycles": 74061248}, command="a")
    found = reading(f"{table('| a | 17.35 | 74061248 |')}\n```\n{pasted}```\n")
    assert found.form == "perf stat, Markdown table"
    assert [record.figures["cycles"].line for record in found.records] == [3, 10]


def test_a_table_with_a_column_for_each_run_holds_no_figures() -> None:
    """Its headings name no metric: nothing is guessed."""
    text = table("| cycles | 5 | 6 |", header="| Counter | iterative | select |")
    assert read_lines("a file", text.splitlines()) is None


def read_bytes(folder: Path, content: bytes):
    path = folder / "a file"
    path.write_bytes(content)
    return read(str(path))


def test_other_encodings_are_read(tmp_path: Path) -> None:
    row = "design;cycles\r\na;323\u00a0489\u00a0760\r\n"
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        (record,) = read_bytes(tmp_path, row.encode(encoding)).records
        assert record.figures["cycles"].value == 323_489_760


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no figures"),
        (b"\0\1\2", "is binary"),
        (b"once upon a time", "holds no figures"),
        (b"a,b\n1,2\n", "holds no figures"),
        (b"design,cycles\n", "holds no figures"),
        (b"0.53,msec,task-clock,526544,100.00,0.468,CPUs utilized\n5,,cycles,1,1\n", "no figures"),
        (b"| a | 10 | 5 |\n| b | 10 | 6 |\n", "a table (CSV or Markdown) with a heading"),
        (b"| design | cycles |\n| --- | --- | --- |\n| a | 5 |\n", "holds no figures"),
        (b"| design | cycles |\n| --- | -x- |\n| a | 5 |\n", "holds no figures"),
        (b"| design | cycles |\n| --- | --- |\n", "holds no figures"),
        (b"|\n|\n|\n", "holds no figures"),
        (b'design,cycles\n"' + b"x" * 200_000, "is this a table?"),
        (b"design,cycles\n" + b"a,1\n" * 100_001, "may have 100,000 rows"),
        (table(*["| a | 1 | 5 |"] * 100_001).encode(), "may have 100,000 rows"),
        (b"cycles" + b",x" * 200, "200 columns"),
        (b"cycles\n" * (1 << 20), "is larger than 4 MiB"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(UsageError) as error:
        read_bytes(tmp_path, content)
    assert words in str(error.value)
    assert len(str(error.value)) < 300 + len(str(tmp_path))


def test_perf_in_json_is_refused_with_what_is_read() -> None:
    with pytest.raises(UsageError, match="without -I, -A, -x or -j"):
        read(str(FIXTURES / "intervals.json"))


def test_a_file_that_is_not_there_or_is_a_folder_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", "a\0b"):
        with pytest.raises(UsageError, match="cannot read"):
            read(str(path))

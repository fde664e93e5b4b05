"""The tables of paper reports, and their Markdown, CSV and LaTeX."""

import csv
import io
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from regatta.analysis.estimates import MEASURED, OVER, Estimate
from regatta.analysis.perf_table import CounterMeans, CounterRow
from regatta.analysis.results import Analysis, CellResult
from regatta.analysis.statistics.units import BLOCKS
from regatta.ledger.counters import COUNTED
from regatta.ledger.metrics import METRICS
from regatta.report.paper.document import designs_sections, paper_document, run_sections
from regatta.report.paper.elements import Column, Document, PaperTable, Row
from regatta.report.paper.files import table_csv
from regatta.report.paper.latex import document_latex, escape, table_latex
from regatta.report.paper.markdown import document_markdown, table_markdown
from regatta.report.paper.quantities import of_event
from tests.lab.published_races import CLOCK, REPORT_D, raced, with_published
from tests.lab.report.test_report import HOSTILE


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return with_published(raced(tmp_path_factory.mktemp("race")))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Document:
    folder = tmp_path_factory.mktemp("hostile")
    return paper_document(raced(folder, contenders=HOSTILE, connections=[5], scopes=["window"]))


def found(analysis: Analysis, name: str) -> PaperTable:
    (table,) = (one for one in paper_document(analysis).tables if one.name == name)
    return table


def row_of(table: PaperTable, label: str) -> Row:
    (row,) = (row for row in table.rows if row.label == label)
    return row


def of_value(value: float, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(value, low, high, 8, MEASURED)


def small(*figures: Estimate | None, source: str = "") -> PaperTable:
    columns = tuple(Column(f"c{number}", source) for number in range(len(figures)))
    return PaperTable("small", "Small", "", "metric", columns, (Row("time", "µs", figures),))


def test_a_run_has_the_server_and_the_client_as_perf_prints_them(analysis: Analysis) -> None:
    tables = run_sections(analysis)[0].tables
    assert len(tables) == 2 * 2 * 3, "a table a cell"
    table = tables[0]
    assert [column.title for column in table.columns] == ["server", "client"]
    labels = [row.label for row in table.rows]
    assert labels[:4] == ["task-clock", "cpu-clock", "context-switches", "cpu-migrations"]
    result = analysis.groups[0].cells[0]
    row = next(row for row in result.perf.rows if row.event == "cycles")
    shown = row_of(table, "cycles").figures[0]
    assert shown is not None
    assert shown.value == row.sides["server"].per_trial
    assert shown.low is not None
    assert shown.low < shown.value < (shown.high or 0)
    assert row_of(table, "task-clock").unit == "ms"


def test_every_metric_that_is_not_a_sum_has_a_row(analysis: Analysis) -> None:
    table = run_sections(analysis)[0].tables[0]
    measured = {
        metric.label
        for metric in METRICS
        if "_per_request" not in metric.name
        for side in metric.sides
        if analysis.groups[0].cells[0].estimates[side, metric.name].value is not None
    }
    assert measured <= {row.label for row in table.rows}


def test_a_table_has_all_designs_at_one_number_of_connections(analysis: Analysis) -> None:
    names = [table.name for section in designs_sections(analysis) for table in section.tables]
    assert names == [
        f"{group}-designs-{step}-{side}"
        for group in (1, 2)
        for step in (5, 15)
        for side in ("server", "client")
    ]
    window = found(analysis, "1-designs-5-server")
    assert [one.title for one in window.columns] == analysis.contenders
    assert row_of(window, "CPU per request").unit == "µs"


def test_published_totals_are_only_beside_whole_processes(analysis: Analysis) -> None:
    whole = found(analysis, "2-designs-5-server")
    titles = [(column.title, column.source) for column in whole.columns]
    assert titles == [(name, source) for name in analysis.contenders for source in ("", "report D")]
    figures = dict(zip(titles, row_of(whole, "cpu-clock").figures, strict=True))
    for name, value in CLOCK.items():
        theirs = figures[name, "report D"]
        assert theirs is not None
        assert (theirs.value, theirs.low) == (value, None)
    user = dict(zip(titles, row_of(whole, "user-time, by the kernel").figures, strict=True))
    assert user["select", "report D"] == Estimate(2.0, None, None, 1, MEASURED), "of 0.002 s"
    assert user["iterative", "report D"] is None
    assert REPORT_D in whole.says
    assert not any(column.source for column in found(analysis, "1-designs-5-server").columns)


def test_a_published_rate_is_comparable_with_a_window(analysis: Analysis) -> None:
    for name in ("1-designs-15-server", "2-designs-15-server"):
        table = found(analysis, name)
        row = row_of(table, "instructions per cycle")
        theirs = [
            figure
            for column, figure in zip(table.columns, row.figures, strict=True)
            if column.source
        ]
        assert [one.value for one in theirs if one] == [1.0, 1.0, 1.0]


def test_unsupported_counters_are_named_without_a_row(tmp_path: Path) -> None:
    table = run_sections(raced(tmp_path, hardware=False))[0].tables[0]
    assert "cycles" not in {row.label for row in table.rows}
    assert re.search(r"Without a figure: .*cycles, .*\(not supported\)", table.says)


def test_the_csv_has_each_figure_with_its_ends(analysis: Analysis) -> None:
    table = found(analysis, "2-designs-5-server")
    rows = list(csv.DictReader(io.StringIO(table_csv(table))))
    ours, theirs = (
        next(
            row
            for row in rows
            if (row["metric"], row["column"], row["source"]) == ("cpu-clock", "select", source)
        )
        for source in ("", "report D")
    )
    assert float(ours["low"]) < float(ours["value"]) < float(ours["high"])
    assert (theirs["value"], theirs["low"], theirs["unit"]) == ("3.63", "", "ms")


def test_markdown_has_a_cell_for_each_column(analysis: Analysis) -> None:
    lines = table_markdown(found(analysis, "2-designs-5-server")).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert {line.count(" | ") for line in rows} == {2 + 6 - 1}
    (clock,) = (line for line in rows if line.startswith("| cpu-clock "))
    assert "| 3.63 |" in clock
    assert " ± " in clock


def test_hostile_names_do_not_break_markdown_cells(hostile: Document) -> None:
    for table in hostile.tables:
        rows = [line for line in table_markdown(table).splitlines() if line.startswith("|")]
        bars = {len(re.findall(r"(?<!\\)\|", line)) for line in rows}
        assert bars == {len(table.columns) + 3}
    assert "<script>" not in document_markdown(hostile)


def balanced(latex: str) -> None:
    """Braces, environments and the cells of each row."""
    assert all(ord(char) < 256 for char in latex), "a letter that LaTeX may not have"
    bare = re.sub(r"%.*", "", re.sub(r"\\[\\{}%&#$_]", "", latex))
    depth = 0
    for char in bare:
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0
    assert depth == 0
    begun = Counter(re.findall(r"\\begin\{(\w+)\}", latex))
    assert begun == Counter(re.findall(r"\\end\{(\w+)\}", latex))
    assert "#" not in bare
    assert "_" not in re.sub(r"\\(?:input|includegraphics|label)\S*", "", bare)


def cells_of(latex: str) -> list[tuple[int, set[int]]]:
    """Of each longtable its columns, and how many cells its rows have."""
    return [
        (
            len(columns),
            {
                len(re.findall(r"(?<!\\)&", line)) + 1
                for line in body.splitlines()
                if line.endswith(r" \\") and r"\caption" not in line
            },
        )
        for columns, body in re.findall(
            r"\\begin\{longtable\}\{(\w+)\}(.*?)\\end\{longtable\}", latex, re.DOTALL
        )
    ]


def test_latex_is_balanced_and_every_row_has_its_cells(analysis: Analysis) -> None:
    document = paper_document(analysis)
    balanced(document_latex(document))
    for table in document.tables:
        latex = table_latex(table)
        balanced(latex)
        shapes = cells_of(latex)
        assert shapes
        assert all(found == {columns} for columns, found in shapes)


def test_hostile_names_are_text_in_latex(hostile: Document) -> None:
    balanced(document_latex(hostile))
    for table in hostile.tables:
        latex = table_latex(table)
        balanced(latex)
        assert all(found == {columns} for columns, found in cells_of(latex))
        assert re.fullmatch(r"[a-zA-Z0-9-]+", table.name)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("50 % of $x_1 & #2", r"50 \% of \$x\_1 \& \#2"),
        ("a^b~c", r"a\textasciicircum{}b\textasciitilde{}c"),
        ("--[x]*", r"-{}-{[}x{]}{*}"),
        ("line\nbreak\x1b", r"line break\textbackslash{}x1b"),
        ("é 日", "é {[}U+65E5{]}"),
    ],
)
def test_latex_prints_text_literally(text: str, latex: str) -> None:
    assert escape(text) == latex


@pytest.mark.parametrize(
    ("estimate", "latex"),
    [
        (of_value(612.3, 608, 616), r"\num{612 +- 5}"),
        (of_value(-0.31, -0.42, -0.2), r"\num{-0.310 +- 0.110}"),
        (of_value(4.1e6, 4.0e6, 4.2e6), r"\num{4.10 +- 0.10 e6}"),
        (of_value(612.3), r"\num{612}"),
        (Estimate(None, 512.0, None, 8, OVER), r"$>$ \num{512}"),
        (Estimate(None, None, None, 0, "not supported"), "not supported"),
        (None, r"\textendash{}"),
    ],
)
def test_a_figure_is_a_number_with_its_uncertainty(estimate: Estimate | None, latex: str) -> None:
    (row,) = (line for line in table_latex(small(estimate)).splitlines() if "time" in line)
    assert row == rf"time & \si{{\micro\second}} & {latex} \\"


def test_a_published_figure_keeps_its_digits() -> None:
    latex = table_latex(small(of_value(102.63), source="report A"))
    assert r"& \num{102.63} \\" in latex
    assert r"\shortstack[r]{c0,\\report A}" in latex


def test_a_wide_table_is_split_without_loss() -> None:
    wide = small(*(of_value(float(number)) for number in range(1, 10)))
    parts = list(wide.parts(4))
    assert [len(part.columns) for part in parts] == [4, 4, 1]
    assert [figure for part in parts for figure in part.rows[0].figures] == list(
        wide.rows[0].figures
    )
    assert [part.title for part in parts] == [f"Small ({number} of 3)" for number in (1, 2, 3)]
    assert list(small(of_value(1.0)).parts(4)) == [small(of_value(1.0))]


def test_published_columns_stay_with_their_design() -> None:
    ours, theirs = Column("x"), Column("x", "report A")
    columns = (ours, theirs, ours, theirs, theirs, ours, *[theirs] * 5)
    figures = tuple(of_value(float(number)) for number in range(len(columns)))
    table = PaperTable("t", "T", "", "metric", columns, (Row("time", "", figures),))
    assert [part.columns for part in table.parts(4)] == [
        (ours, theirs),
        (ours, theirs, theirs),
        (ours, theirs, theirs, theirs),
        (theirs, theirs),
    ]


def hybrid(core_percent: float, atom_percent: float) -> float | None:
    """What an event of 100 on one kind of core and 200 on the other comes to."""
    rows = [
        CounterRow(
            "perf", event, "", "counted", {"server": CounterMeans({1: value}, {}, COUNTED, ran)}
        )
        for event, value, ran in (
            ("cpu_core/cache-misses/", 100.0, core_percent),
            ("cpu_atom/cache-misses/", 200.0, atom_percent),
        )
    ]
    result = cast(CellResult, SimpleNamespace(perf=SimpleNamespace(rows=rows)))
    estimate = of_event("cache-misses", "", True).read(result, "server", BLOCKS)
    return None if estimate is None else estimate.value


def test_kinds_of_core_are_weighted_by_running_time() -> None:
    assert hybrid(75, 25) == pytest.approx(125)


def test_kinds_of_core_that_ran_concurrently_add_up() -> None:
    assert hybrid(100, 100) == pytest.approx(300)

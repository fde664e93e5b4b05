"""Tables and plots in the form of lab reports, with published figures beside those of here."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import altair as alt
import pytest

from regatta.judge.perf_table import CounterMeans, CounterRow
from regatta.judge.results import Analysis, CellResult
from regatta.judge.statistics.units import BLOCKS
from regatta.record.counters import COUNTED
from regatta.record.metrics import METRICS
from regatta.show.as_reports import reports_section, run_section
from regatta.show.pictures import picture, to_pdf, to_svg
from regatta.show.quantities import of_event
from regatta.show.view import Chart, Figure, Row, Table
from tests.lab.published_races import CLOCK, REPORT_D, raced, with_published


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return with_published(raced(tmp_path_factory.mktemp("race")))


WINDOW, PROCESS = 0, 1
"""The groups: the load alone, and whole processes."""


def tables(analysis: Analysis, group: int) -> dict[str, Table]:
    (section,) = reports_section(analysis, analysis.groups[group], "")
    return {table.title: table for table in section.tables}


def charts(analysis: Analysis, group: int) -> dict[str, Chart]:
    (section,) = reports_section(analysis, analysis.groups[group], "")
    return {chart.name: chart for chart in section.charts}


def run(analysis: Analysis, cell: int = 0) -> Table:
    group = analysis.groups[WINDOW]
    (table,) = run_section(group.cells[cell], group.units).tables
    return table


def row_of(table: Table, name: str) -> Row:
    (row,) = (row for row in table.rows if row.name == name)
    return row


def test_a_run_has_the_server_and_the_client_as_perf_prints_them(analysis: Analysis) -> None:
    table = run(analysis)
    assert [heading.title for heading in table.header] == ["metric", "server", "client"]
    names = [row.name for row in table.rows]
    assert names[:4] == ["task-clock, ms", "cpu-clock, ms", "context-switches", "cpu-migrations"]
    shown = row_of(table, "cycles").figures[0]
    assert shown.interval.startswith("±")
    result = analysis.groups[WINDOW].cells[0]
    row = next(row for row in result.perf.rows if row.event == "cycles")
    assert shown.value.startswith(f"{(row.sides['server'].per_trial or 0) / 1e6:.1f}"[:3])


def test_every_metric_that_is_not_a_sum_has_a_row(analysis: Analysis) -> None:
    measured = {
        f"{metric.label}, {metric.unit}" if metric.unit else metric.label
        for metric in METRICS
        if "_per_request" not in metric.name
        for side in metric.sides
        if analysis.groups[WINDOW].cells[0].estimates[side, metric.name].value is not None
    }
    assert measured <= {row.name for row in run(analysis).rows}


def test_a_table_has_all_designs_at_one_number_of_connections(analysis: Analysis) -> None:
    for group in (WINDOW, PROCESS):
        assert list(tables(analysis, group)) == [
            f"{side}, {step} connections" for step in (5, 15) for side in ("Server", "Client")
        ]
    window = tables(analysis, WINDOW)["Server, 5 connections"]
    assert [one.title for one in window.header[1:]] == analysis.contenders
    assert row_of(window, "CPU per request, µs")


def test_published_totals_are_only_beside_whole_processes(analysis: Analysis) -> None:
    whole = tables(analysis, PROCESS)["Server, 5 connections"]
    columns = [(heading.title, heading.unit) for heading in whole.header[1:]]
    assert columns == [(name, of) for name in analysis.contenders for of in ("", "report D")]
    figures = dict(zip(columns, row_of(whole, "cpu-clock, ms").figures, strict=True))
    for name, value in CLOCK.items():
        assert figures[name, "report D"] == Figure(f"{value:g}")
    user = dict(zip(columns, row_of(whole, "user-time, by the kernel, ms").figures, strict=True))
    assert user["select", "report D"] == Figure("2"), "of 0.002 s"
    assert user["iterative", "report D"] == Figure("–")
    assert REPORT_D in whole.says
    window = tables(analysis, WINDOW)["Server, 5 connections"]
    assert not any(heading.unit for heading in window.header)


def test_a_published_rate_is_comparable_with_a_window(analysis: Analysis) -> None:
    for group in (WINDOW, PROCESS):
        table = tables(analysis, group)["Server, 15 connections"]
        row = row_of(table, "instructions per cycle")
        theirs = [
            figure.value
            for heading, figure in zip(table.header[1:], row.figures, strict=True)
            if heading.unit
        ]
        assert theirs == ["1", "1", "1"]


def test_unsupported_counters_are_named_without_a_row(tmp_path: Path) -> None:
    table = run(raced(tmp_path, hardware=False))
    assert "cycles" not in {row.name for row in table.rows}
    assert re.search(r"Without a figure: .*cycles, .*\(not supported\)", table.says)


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


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Of all layers; every layer's data stand in it or among the specification's."""
    known = list(spec.get("datasets", {}).values())
    for part in [spec, *spec.get("layer", [])]:
        known += [part["data"]["values"]] if "values" in part.get("data", {}) else []
    return [row for rows in known for row in rows]


def marks_of(spec: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in spec["layer"]]


def test_clocks_switches_and_cache_are_plotted_for_each_scope(analysis: Analysis) -> None:
    for group in (WINDOW, PROCESS):
        assert list(charts(analysis, group)) == ["clocks", "switches", "cache"]
    panels = {
        (group, name): [panel.title for panel in chart.panels]
        for group in (WINDOW, PROCESS)
        for name, chart in charts(analysis, group).items()
    }
    assert panels[PROCESS, "clocks"] == ["cpu-clock", "task-clock"]
    per_request = ["cache-references per request", "cache-misses per request"]
    assert panels[WINDOW, "cache"] == per_request
    assert {"context-switches", "instructions per cycle"} <= set(panels[PROCESS, "switches"])


def test_a_title_names_what_is_shown_and_nothing_else(analysis: Analysis, tmp_path: Path) -> None:
    """Not the clock of a machine that does not count cycles."""
    title = charts(analysis, PROCESS)["switches"].title
    assert title.startswith("Context switches, the clock and instructions per cycle against")
    title = charts(raced(tmp_path, hardware=False), PROCESS)["switches"].title
    assert title.startswith("Context-switches against")


def test_every_specification_is_valid(analysis: Analysis) -> None:
    for group in (WINDOW, PROCESS):
        for chart in charts(analysis, group).values():
            for panel in chart.panels:
                alt.Chart.from_dict(panel.spec)


def test_published_figures_are_hollow_beside_whole_processes(analysis: Analysis) -> None:
    chart = charts(analysis, PROCESS)["clocks"]
    clock = chart.panels[0].spec
    theirs = [row for row in rows_of(clock) if "source" in row]
    assert {row["design"]: row["value"] for row in theirs} == CLOCK
    assert {row["source"] for row in theirs} == {REPORT_D}
    hollow = [layer["mark"] for layer in clock["layer"] if layer["mark"].get("filled") is False]
    assert len(hollow) == 1
    assert REPORT_D in chart.says
    for name in ("clocks", "switches"):
        for group in (WINDOW, PROCESS):
            rows = rows_of(charts(analysis, group)[name].panels[0].spec)
            assert any("source" in row for row in rows) == (group == PROCESS)


def test_clocks_are_bars_and_the_others_lines(analysis: Analysis) -> None:
    assert "bar" in marks_of(charts(analysis, PROCESS)["clocks"].panels[0].spec)
    assert "line" in marks_of(charts(analysis, WINDOW)["cache"].panels[0].spec)


def test_figures_with_a_wide_range_have_points_instead_of_bars(analysis: Analysis) -> None:
    """A bar stands on 0, which a logarithmic axis has not."""
    (said,) = analysis.claims
    first, *others = said.published
    far = replace(said, published=[replace(first, value=4000.0), *others])
    spec = charts(replace(analysis, claims=[far]), PROCESS)["clocks"].panels[0].spec
    assert "bar" not in marks_of(spec)
    assert "log" in str(spec)


def test_without_hardware_counters_plots_show_the_rest(tmp_path: Path) -> None:
    bare = charts(raced(tmp_path, hardware=False, scopes=["window"]), WINDOW)
    assert list(bare) == ["clocks", "switches"]
    assert [one.title for one in bare["switches"].panels] == ["context-switches per request"]


def test_a_picture_has_all_panels_and_one_legend(analysis: Analysis) -> None:
    chart = charts(analysis, PROCESS)["switches"]
    assert len(picture(chart, titled=False)["concat"]) == len(chart.panels)
    svg = to_svg(chart)
    assert svg.startswith("<svg")
    # Once in the legend; a panel says only its own name.
    assert svg.count(">thread-per-client<") == 1
    assert to_pdf(chart).startswith(b"%PDF")

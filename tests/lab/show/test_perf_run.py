"""The counters of a cell as perf stat prints them, also per kind of core."""

import re
from pathlib import Path
from statistics import fmean

import pytest

from regatta.judge.results import Analysis
from regatta.record.counters import EVENTS
from regatta.record.metrics import METRICS
from regatta.record.perf_output import read_counters
from regatta.show.build import view_of
from regatta.show.csv import to_csv
from regatta.show.trials import run_section
from regatta.show.view import Row
from tests.lab import reports
from tests.lab.reports import analysed
from tests.lab.synthetic import make
from tests.ledgers import change, rows

FIXTURES = Path(__file__).parents[1] / "fixtures" / "perf"
SMALL = {"contenders": ["select"], "connections": [10], "blocks": 6, "counted_blocks": 6}


def with_fixture(path: Path, name: str) -> Path:
    """A race in which perf printed this of the server in each of its counted trials."""
    make(path, **SMALL)
    change(path, "DELETE FROM counter WHERE origin = 'perf' AND side = 'server'")
    for reading in read_counters((FIXTURES / f"{name}.json").read_text(), EVENTS):
        parts = ("event", "value", "unit", "running_percent", "state")
        counter = [getattr(reading, part) for part in parts]
        for (trial_id,) in rows(path, "SELECT id FROM trial WHERE kind = 'counted'"):
            values = (trial_id, "server", "perf", *counter)
            change(path, "INSERT INTO counter VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)
    return path


def run(analysis: Analysis) -> dict[str, Row]:
    """The counters and metrics of the only cell."""
    (group,) = analysis.groups
    (table,) = run_section(group.cells[0], group.units).tables
    return {row.name: row for row in table.rows}


def names(analysis: Analysis) -> set[str]:
    return {chart.name for chart in view_of(analysis).charts()}


@pytest.mark.parametrize(
    ("cpu", "values", "shared"),
    [
        ("amd-stalled", {"instructions per cycle": "0.729"}, {}),
        (
            "multiplexed",
            {"instructions per cycle": "0.502"},
            {"cycles": 63, "cache-references": 40},
        ),
        (
            "intel-hybrid-both",
            {
                "instructions per cycle on cpu_core": "2.00",
                "instructions per cycle on cpu_atom": "1.00",
            },
            {"cpu_core/instructions/": 94, "cpu_atom/instructions/": 6},
        ),
        ("intel-hybrid-topdown", {"instructions per cycle": "0.741"}, {}),
    ],
)
def test_a_run_has_perf_stats_derived_values_and_what_was_multiplexed(
    tmp_path: Path, cpu: str, values: dict[str, str], shared: dict[str, int]
) -> None:
    found = run(analysed(with_fixture(tmp_path / "ledger.sqlite", cpu)))
    assert {name: found[name].figures[0].value for name in values} == values
    percents = {name: row.remarks[0] for name, row in found.items() if row.remarks}
    told = {name: f"counted {percent} % of the time" for name, percent in shared.items()}
    assert told.items() <= percents.items()
    assert bool(percents) == bool(shared)


def test_each_kind_of_core_has_charts_and_figures(tmp_path: Path) -> None:
    path = with_fixture(tmp_path / "ledger.sqlite", "intel-hybrid-both")
    drawn = names(analysed(path))
    of_cores = {f"server-instructions_per_cycle_on_{core}" for core in ("cpu_core", "cpu_atom")}
    assert of_cores | {"server-instructions_per_cycle", "server-clock_ghz"} <= drawn
    (cell,) = reports.summary_json(path)["groups"][0]["cells"]
    found = {name: figure["value"] for name, figure in cell["metrics"]["server"].items()}
    assert found["instructions_per_cycle_on_cpu_core"] == pytest.approx(2)
    assert found["instructions_per_cycle_on_cpu_atom"] == pytest.approx(1)
    assert 1 < found["instructions_per_cycle"] < 2
    assert "branch_miss_rate_on_cpu_atom,%" in to_csv(analysed(path))


def test_a_side_on_one_kind_of_core_has_one_figure(tmp_path: Path) -> None:
    analysis = analysed(with_fixture(tmp_path / "ledger.sqlite", "intel-hybrid-topdown"))
    (result,) = analysis.groups[0].cells
    assert not any("_on_" in name for _, name in result.estimates)


def test_rates_have_figures_but_no_charts(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", **SMALL)
    assert "server-context_switches_per_request" in names(analysed(path))
    assert "server-context_switches_per_second" not in names(analysed(path))
    (cell,) = reports.summary_json(path)["groups"][0]["cells"]
    assert cell["metrics"]["server"]["context_switches_per_second"]["value"] > 0


def test_a_run_has_all_counters_and_metrics_of_both_sides_that_are_not_per_request(
    tmp_path: Path,
) -> None:
    analysis = analysed(make(tmp_path / "ledger.sqlite", **SMALL, hardware=True))
    (result,) = analysis.groups[0].cells
    found = run(analysis)
    counters = ["task-clock, ms", "cpu-clock, ms", "context-switches", "cpu-migrations"]
    assert list(found)[:4] == counters
    assert found["peak memory, MiB"].figures[0].value == "2.00"
    measured = {
        f"{metric.label}, {metric.unit}" if metric.unit else metric.label
        for metric in METRICS
        if "_per_request" not in metric.name
        for side in metric.sides
        if result.estimates[side, metric.name].value is not None
    }
    assert measured <= set(found)
    blocks = {row.event: set(row.sides["server"].totals) for row in result.perf.rows}
    assert not blocks["cpu-time"] & blocks["cycles"], "times are those of timed trials"
    cycles = next(row for row in result.perf.rows if row.event == "cycles")
    shown = found["cycles"].figures[0]
    mean = fmean(cycles.sides["server"].totals.values())
    assert shown.value.startswith(f"{mean / 1e6:.1f}"[:3])
    assert shown.interval.startswith("±")


def test_unsupported_counters_are_named_without_a_row(tmp_path: Path) -> None:
    analysis = analysed(make(tmp_path / "ledger.sqlite", **SMALL))
    assert "cycles" not in run(analysis)
    (table,) = run_section(analysis.groups[0].cells[0], analysis.units).tables
    assert re.search(r"Without a figure: .*cycles.*\(not supported\)", table.says)


def test_the_page_has_perf_stats_output_for_a_whole_process(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", **SMALL, scopes=["process"])
    change(path, "INSERT INTO perf_stat VALUES (1, 'client', '{\"event\" : \"<cycles>\"}')")
    reports.write(path)
    page = (path.parent / "report.html").read_text()
    assert "printed of the client of one trial" in page
    assert "<pre>{&#34;event&#34; : &#34;&lt;cycles&gt;&#34;}</pre>" in page

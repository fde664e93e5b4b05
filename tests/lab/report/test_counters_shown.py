"""The counters of a cell as perf stat prints them, also per kind of core."""

from pathlib import Path

import pytest

from regatta.analysis.results import Analysis
from regatta.ledger.counters import EVENTS
from regatta.machine.perf.output import read_counters
from regatta.report.pictures import pictures
from regatta.report.tables.counters import CounterLine, counter_lines
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
    for one in read_counters((FIXTURES / f"{name}.json").read_text(), EVENTS):
        counter = (one.event, one.value, one.unit, one.running_percent, one.state)
        for (trial_id,) in rows(path, "SELECT id FROM trial WHERE kind = 'counted'"):
            values = (trial_id, "server", "perf", *counter)
            change(path, "INSERT INTO counter VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)
    return path


def lines(analysis: Analysis) -> dict[str, CounterLine]:
    """By event; perf's where the kernel counts the same."""
    (result,) = analysis.groups[0].cells
    return {line.event: line for line in reversed(counter_lines(result))}


@pytest.mark.parametrize(
    ("cpu", "notes"),
    [
        (
            "amd-stalled",
            {
                "context-switches": "715.32 /sec",
                "page-faults": "47.21 K/sec",
                "cycles": "1.02 GHz",
                "stalled-cycles-frontend": "9.96 % frontend cycles idle",
                "stalled-cycles-backend": "18.28 % backend cycles idle",
                "instructions": "0.73 insn per cycle, 0.25 stalled cycles per insn",
            },
        ),
        (
            "multiplexed",
            {
                "cycles": "3.32 GHz (63.00 %)",
                "instructions": "0.50 insn per cycle (61.50 %)",
                "cache-references": "6.65 M/sec (40.00 %)",
                "cache-misses": "",
            },
        ),
        (
            "intel-hybrid-both",
            {
                "context-switches": "2.50 K/sec",
                "cpu-migrations": "400.00 /sec",
                "cpu_core/instructions/": "2.00 insn per cycle (93.90 %)",
                "cpu_atom/instructions/": "1.00 insn per cycle (6.10 %)",
                "cpu_core/branch-misses/": "1.00 % of all branches (93.90 %)",
                "cpu_atom/branch-misses/": "2.00 % of all branches (6.10 %)",
            },
        ),
        ("intel-hybrid-topdown", {"cpu_core/instructions/": "0.74 insn per cycle"}),
    ],
)
def test_a_count_is_followed_by_perf_stats_derived_value(
    tmp_path: Path, cpu: str, notes: dict[str, str]
) -> None:
    found = lines(analysed(with_fixture(tmp_path / "ledger.sqlite", cpu)))
    assert {event: found[event].notes[0] for event in notes} == notes


def test_each_kind_of_core_has_charts_and_figures(tmp_path: Path) -> None:
    path = with_fixture(tmp_path / "ledger.sqlite", "intel-hybrid-both")
    drawn = pictures(analysed(path))
    of_cores = {f"server-instructions_per_cycle_on_{core}" for core in ("cpu_core", "cpu_atom")}
    assert of_cores | {"server-instructions_per_cycle", "server-clock_ghz"} <= drawn.keys()
    (cell,) = reports.summary_json(path)["groups"][0]["cells"]
    found = {name: one["value"] for name, one in cell["metrics"]["server"].items()}
    assert found["instructions_per_cycle_on_cpu_core"] == pytest.approx(2)
    assert found["instructions_per_cycle_on_cpu_atom"] == pytest.approx(1)
    assert 1 < found["instructions_per_cycle"] < 2
    reports.write(path)
    assert "instructions per cycle on cpu_atom" in (path.parent / "report.html").read_text()
    assert "branch_miss_rate_on_cpu_atom,%" in (path.parent / "summary.csv").read_text()


def test_a_side_on_one_kind_of_core_has_one_figure(tmp_path: Path) -> None:
    analysis = analysed(with_fixture(tmp_path / "ledger.sqlite", "intel-hybrid-topdown"))
    (result,) = analysis.groups[0].cells
    assert not any("_on_" in name for _, name in result.estimates)


def test_rates_have_figures_but_no_charts(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", **SMALL)
    assert "server-context_switches_per_request" in pictures(analysed(path))
    assert "server-context_switches_per_second" not in pictures(analysed(path))
    (cell,) = reports.summary_json(path)["groups"][0]["cells"]
    assert cell["metrics"]["server"]["context_switches_per_second"]["value"] > 0


def test_peak_memory_is_in_mib_and_not_per_request(tmp_path: Path) -> None:
    line = lines(analysed(make(tmp_path / "ledger.sqlite", **SMALL)))["peak-memory"]
    assert (line.unit, line.figures[0].per_trial, line.figures[0].per_request) == (
        "MiB",
        "2.00",
        "",
    )


def test_the_page_has_perf_stats_output_for_a_whole_process(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", **SMALL, scopes=["process"])
    change(path, "INSERT INTO perf_stat VALUES (1, 'client', '{\"event\" : \"<cycles>\"}')")
    reports.write(path)
    page = (path.parent / "report.html").read_text()
    assert "printed of the client of one trial" in page
    assert "<pre>{&#34;event&#34; : &#34;&lt;cycles&gt;&#34;}</pre>" in page

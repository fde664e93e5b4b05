"""The files of a race, checked against the ledger and each other."""

import csv
import json
import re
from pathlib import Path

import pytest

from regatta.record.cell import IDENTITY
from regatta.show.build import view_of
from regatta.show.notes import notes
from tests.commands import run_well
from tests.lab import reports
from tests.lab.synthetic import make

CACHE = "designs share a cache"
DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a race like `quick`, with its report."""
    folder = tmp_path_factory.mktemp("race")
    reports.write(make(folder / "ledger.sqlite"))
    return folder


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "summary.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_summary_csv_has_the_columns_of_the_formats_page(written: Path) -> None:
    formats = (DOCS / "formats.md").read_text()
    promised = re.search(r"`(contender,work,.*?)`", formats)
    first = (written / "summary.csv").read_text().splitlines()[0]
    assert first == promised[1]


def test_summary_csv_has_a_row_for_each_cell_and_metric(written: Path) -> None:
    rows = rows_of(written)
    keys = {(row["contender"], row["connections"], row["side"], row["metric"]) for row in rows}
    assert len(keys) == len(rows)
    cpu = [row for row in rows if row["metric"] == "cpu_time_per_request_us"]
    assert len(cpu) == 9 * 2
    assert all(float(row["low"]) < float(row["value"]) < float(row["high"]) for row in cpu)
    assert all((row["state"] == "measured") == (row["value"] != "") for row in rows)


def test_csv_rows_of_different_cells_differ(tmp_path: Path) -> None:
    """The same design and connections, over the window and over a whole process."""
    path = make(tmp_path / "ledger.sqlite", scopes=["window", "process"], connections=[10])
    reports.write(path)
    found = [row for row in rows_of(tmp_path) if row["metric"] == "cpu_time_per_request_us"]
    cells = [tuple(row[name] for name in (*IDENTITY, "side")) for row in found]
    assert len(set(cells)) == len(found) == 2 * 3 * 2
    assert {(row["scope"], row["rounds"], row["top"], row["linger_s"]) for row in found} == {
        ("window", "20", "2", "0"),
        ("process", "1", "2", "0"),
    }


def test_the_json_says_what_the_csv_says(written: Path) -> None:
    told = reports.summary_json(written / "ledger.sqlite")
    json.dumps(told)
    from_json = {
        (cell["contender"], f"{cell['connections']}", side, name): estimate["value"]
        for cell in told["groups"][0]["cells"]
        for side, metrics in cell["metrics"].items()
        for name, estimate in metrics.items()
    }
    assert {
        (row["contender"], row["connections"], row["side"], row["metric"]): row["value"]
        for row in rows_of(written)
    } == {key: "" if value is None else f"{value:.9g}" for key, value in from_json.items()}


def test_the_line_of_the_ci_page_makes_what_bencher_reads(written: Path) -> None:
    page = (DOCS / "ci.md").read_text()
    (program,) = re.findall(r"--json \| jq '(.*)' > bencher.json", page)
    told = reports.summary_json(written / "ledger.sqlite")
    found = json.loads(run_well("jq", program, stdin=json.dumps(told)))
    assert len(found) == len(told["groups"][0]["cells"])
    select = found["select, 10 connections"]
    names = {"cpu_time_per_request_us", "latency_p50_ms", "latency_p99_ms", "peak_memory_mib"}
    assert set(select) == names
    (cell,) = (
        result
        for result in told["groups"][0]["cells"]
        if (result["contender"], result["connections"]) == ("select", 10)
    )
    cpu = cell["metrics"]["server"]["cpu_time_per_request_us"]
    right = {"value": cpu["value"], "lower_value": cpu["low"], "upper_value": cpu["high"]}
    assert select["cpu_time_per_request_us"] == right


def test_the_page_carries_its_chart_library(written: Path) -> None:
    page = (written / "report.html").read_text()
    assert "window.vegaEmbed=" in page
    assert len(page) < 3_000_000


def test_a_race_without_trials_has_a_report(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", blocks=0, counted_blocks=0)
    reports.write(path)
    assert "No ranking" in (tmp_path / "report.html").read_text()
    assert reports.printed(reports.explain, path)


def test_counters_that_were_not_counted_are_not_shown_as_zero(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", perf=False, counted_blocks=0)
    analysis = reports.analysed(path)
    cycles = analysis.groups[0].cells[0].estimates["server", "cycles_per_request"]
    assert (cycles.value, cycles.state) == (None, "no trial")
    charts = {chart.name for chart in view_of(analysis).charts()}
    assert "server-cpu_time_per_request_us" in charts
    assert "server-cycles_per_request" not in charts


@pytest.mark.parametrize(
    ("works", "contenders", "is_told"),
    [
        (["scan"], ["select", "iterative"], True),
        (["scan+spin=50us"], ["select", "iterative"], True),
        (["classic", "snapshot", "wait=5ms"], ["select", "iterative"], False),
        (["scan"], ["select"], False),
        (["scan"], ["select", "mine"], False),
    ],
)
def test_a_comparison_of_designs_under_scan_warns_of_the_shared_cache(
    tmp_path: Path, works: list[str], contenders: list[str], is_told: bool
) -> None:
    race = {"works": works, "contenders": contenders, "connections": [1], "blocks": 3}
    analysis = reports.analysed(make(tmp_path / "ledger.sqlite", **race))
    assert sum(CACHE in note.sentence for note in notes(analysis)) == is_told


def test_counts_near_zero_have_a_difference_instead_of_a_ratio(tmp_path: Path) -> None:
    """The best makes 0.02 switches a request: that others make 52 times as many says little."""
    path = make(tmp_path / "ledger.sqlite", counted_blocks=8, connections=[10])
    found = reports.summary_json(path)["groups"][0]["against_best"]
    scales = {rival["metric"]: rival["scale"] for rival in found}
    switches = "context_switches_per_request"
    assert scales[switches] == scales["page_faults_per_request"] == "difference"
    assert scales["cpu_time_per_request_us"] == scales["latency_p50_ms"] == "ratio"
    of = ("thread-per-client", switches)
    (threads,) = (rival for rival in found if (rival["contender"], rival["metric"]) == of)
    assert threads["outcome"] == "larger than the noise"
    assert 0.9 < threads["low"] < threads["value"] < threads["high"] < 1.2
    text = reports.told(reports.analysed(path))
    assert re.search(r"\| \+1\.0\d* \[", text)
    assert "the smallest count is below 0.1 a request" in text


def test_figures_not_distinguishable_from_the_best_state_what_is_detectable(tmp_path: Path) -> None:
    costs = {"iterative": 600.0, "thread-per-client": 900.0, "select": 600.0}
    path = make(tmp_path / "ledger.sqlite", cpu_us=costs, connections=[100])
    found = reports.summary_json(path)["groups"][0]["against_best"]
    unseen = [rival for rival in found if rival["outcome"] == "no difference seen"]
    assert any(rival["metric"] == "cpu_time_per_request_us" for rival in unseen)
    assert all(rival["detectable"] is not None for rival in unseen)
    text = reports.told(reports.analysed(path))
    assert re.search(r"×1\.0\d+ ≈ \[0\.9\d+–1\.0\d+\]; \d+ \[", text), "the ratio, then the level"
    assert re.search(r"Detectable at 80 % power: CPU per request \d", text)

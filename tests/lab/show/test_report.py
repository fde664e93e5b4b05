"""Table, page and files of a race, checked against the ledger and each other."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from regatta.record.cell import IDENTITY
from tests.lab import reports
from tests.lab.synthetic import make
from tests.ledgers import change

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><b>",
    'comma, "quote"',
    "line\nbreak",
    "=1+1",
    "pipe|`tick`",
    "\x1b[31mred",
    "[bold]markup[/bold]",
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a race like `quick`, with its report."""
    folder = tmp_path_factory.mktemp("race")
    reports.write(make(folder / "ledger.sqlite"))
    return folder


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    reports.write(make(folder / "ledger.sqlite", contenders=HOSTILE, connections=[1, 10], blocks=5))
    return folder


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "summary.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_summary_csv_has_the_columns_of_the_formats_page(written: Path) -> None:
    formats = (Path(__file__).resolve().parents[3] / "docs" / "formats.md").read_text()
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
    for row in rows:
        assert (row["state"] == "measured") == (row["value"] != "")


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


def test_hostile_names_stay_distinct_in_the_csv(hostile: Path) -> None:
    """As they are, but for formulas and what is not printable."""
    changed = {"=1+1": "'=1+1", "line\nbreak": r"line\x0abreak", "\x1b[31mred": r"\x1b[31mred"}
    expected = {changed.get(name, name) for name in HOSTILE}
    assert {row["contender"] for row in rows_of(hostile)} == expected


def test_the_json_says_what_the_csv_says(written: Path) -> None:
    told = reports.summary_json(written / "ledger.sqlite")
    json.dumps(told)
    from_csv = {
        (row["contender"], row["connections"], row["side"], row["metric"]): row["value"]
        for row in rows_of(written)
    }
    compared = 0
    for cell in told["groups"][0]["cells"]:
        for side, metrics in cell["metrics"].items():
            for name, estimate in metrics.items():
                key = (cell["contender"], str(cell["connections"]), side, name)
                value = estimate["value"]
                assert from_csv[key] == ("" if value is None else f"{value:.9g}")
                compared += 1
    assert compared == len(from_csv)


def test_markdown_tables_keep_their_shape_whatever_the_names(hostile: Path) -> None:
    text = (hostile / "summary.md").read_text()
    assert "<script>" not in text
    tables = [table.splitlines() for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)]
    assert sum(len(table) for table in tables) > 2 * len(HOSTILE)
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1, table[0]


def test_the_page_shows_hostile_names_as_text(hostile: Path) -> None:
    page = (hostile / "report.html").read_text()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_page_carries_its_chart_library(written: Path) -> None:
    page = (written / "report.html").read_text()
    assert "window.vegaEmbed=" in page
    assert len(page) < 3_000_000


def table(ledger: Path, width: int, **terminal: Any) -> str:
    return reports.printed(reports.explain, ledger, width=width, **terminal)


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_fits_the_terminal(written: Path, width: int) -> None:
    lines = table(written / "ledger.sqlite", width).splitlines()
    assert max(map(len, lines)) <= width
    for design in ("iterative", "thread-per-client", "select"):
        assert sum(line.lstrip("★☆ ").startswith(design) for line in lines) >= 3


def test_colours_are_for_terminals_only(written: Path) -> None:
    assert "\x1b[" not in table(written / "ledger.sqlite", 100)
    terminal = {"force_terminal": True, "color_system": "truecolor"}
    assert "\x1b[" in table(written / "ledger.sqlite", 100, **terminal)


def test_the_table_prints_no_control_character_of_a_name(hostile: Path) -> None:
    shown = table(hostile / "ledger.sqlite", 120)
    assert "\x1b" not in shown
    assert "[bold]" in shown or "[bo" in shown


@pytest.mark.parametrize("width", [80, 120])
def test_unsupported_counters_are_not_shown_as_zero(tmp_path: Path, width: int) -> None:
    path = make(tmp_path / "ledger.sqlite", perf=False, counted_blocks=0)
    shown = table(path, width)
    rows = [line for line in shown.splitlines() if "thread-per-client" in line]
    assert any("not supported" in row or "n/s" in row for row in rows) or "not" in shown


def test_failed_trials_are_named_with_their_reason(tmp_path: Path) -> None:
    fail = {("select", 10, 3)}
    reports.write(
        make(tmp_path / "ledger.sqlite", fail=fail, fail_reason="it <b>burst</b> into flames")
    )
    page = (tmp_path / "report.html").read_text()
    assert "it &lt;b&gt;burst&lt;/b&gt; into flames" in page
    assert "burst" in (tmp_path / "summary.md").read_text()


def test_an_unfinished_race_says_so(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite")
    change(path, "DELETE FROM trial WHERE block > 4")
    reports.write(path)
    assert "not finished" in (tmp_path / "report.html").read_text()
    assert "not finished" in (tmp_path / "summary.md").read_text()


def test_a_race_without_trials_has_a_report(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", blocks=0, counted_blocks=0)
    reports.write(path)
    assert "No ranking" in (tmp_path / "report.html").read_text()
    assert table(path, 100)


def test_counts_near_zero_have_a_difference_instead_of_a_ratio(tmp_path: Path) -> None:
    """The best makes 0.02 switches a request: that others make 52 times as many says little."""
    path = make(tmp_path / "ledger.sqlite", counted_blocks=8, connections=[10])
    found = reports.summary_json(path)["groups"][0]["against_best"]
    scales = {one["metric"]: one["scale"] for one in found}
    assert (
        scales["context_switches_per_request"] == scales["page_faults_per_request"] == "difference"
    )
    assert scales["cpu_time_per_request_us"] == scales["latency_p50_ms"] == "ratio"
    (threads,) = (
        one
        for one in found
        if (one["contender"], one["metric"])
        == ("thread-per-client", "context_switches_per_request")
    )
    assert threads["outcome"] == "larger than the noise"
    assert 0.9 < threads["low"] < threads["value"] < threads["high"] < 1.2
    reports.write(path)
    summary = (tmp_path / "summary.md").read_text()
    assert re.search(r"\| \+1\.0\d* \\\[", summary)
    assert "the smallest count is below 0.1 a request" in summary


def test_figures_not_distinguishable_from_the_best_state_what_is_detectable(tmp_path: Path) -> None:
    costs = {"iterative": 600.0, "thread-per-client": 900.0, "select": 600.0}
    path = make(tmp_path / "ledger.sqlite", cpu_us=costs, connections=[100])
    found = reports.summary_json(path)["groups"][0]["against_best"]
    unseen = [one for one in found if one["outcome"] == "no difference seen"]
    assert any(one["metric"] == "cpu_time_per_request_us" for one in unseen)
    assert all(one["detectable"] is not None for one in unseen)
    reports.write(path)
    summary = (tmp_path / "summary.md").read_text()
    assert re.search(r"×1\.0\d+ ≈ \\\[0\.9\d+–1\.0\d+\\\]; \d+ \\\[", summary), (
        "the ratio, then the level"
    )
    assert re.search(r"Detectable at 80 % power: CPU per request \d", summary)
    text = table(path, 150)
    assert " ≈" in text
    assert re.search(r"Detectable at 80 % power: CPU per request \d", text)

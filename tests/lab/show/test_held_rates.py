"""Held rates in every form of the report, with intervals over the blocks."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from regatta.judge.estimates import CLIENT_BOUND, MEASURED, Estimate
from regatta.judge.held_rates import AT_LEAST, HOLDS, NOTHING, UNKNOWN, HeldRate
from regatta.judge.results import Analysis
from regatta.judge.standings import FAILED
from regatta.record.records import KNEE
from regatta.show.build import view_of
from regatta.show.held import (
    ends_of,
    held_lines,
    knee_tables,
    rounded_rate,
    sentences,
)
from regatta.show.view import Figure
from tests.lab import reports
from tests.lab.synthetic import make
from tests.lab.synthetic_held import CAPACITY, add_held
from tests.ledgers import change


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("held")
    path = add_held(make(folder / "ledger.sqlite", connections=[1], blocks=2, requests=20))
    reports.write(path)
    return path


@pytest.fixture
def copy(ledger: Path, tmp_path: Path) -> Path:
    """One that a test may change."""
    return Path(shutil.copy(ledger, tmp_path / "ledger.sqlite"))


def held(analysis: Analysis) -> dict[str, HeldRate]:
    return {one.cell.contender: one for group in analysis.held for one in group.members}


def test_the_interval_over_the_blocks_holds_the_truth(ledger: Path) -> None:
    found = held(reports.analysed(ledger))
    for name, truth in CAPACITY.items():
        rate = found[name].rate
        assert (found[name].state, rate.trials) == (HOLDS, 4)
        assert rate.low <= rate.value <= rate.high
        assert rate.low <= truth <= rate.high
        assert rate.high / rate.low < 1.2


def test_every_form_says_who_holds_most_and_how_many_times_as_much(ledger: Path) -> None:
    found = reports.summary_json(ledger)["held"][0]
    assert found["says"].startswith("held rate: select is best: 2.")
    ratios = {one["contender"]: one["value"] for one in found["against_best"]}
    assert ratios["iterative"] == pytest.approx(5, rel=0.05)
    section = reports.section(reports.analysed(ledger), "Held rates")
    assert "eld rate: select is best: 2." in section.tables[0].says
    assert "★" in section.tables[0].rows[2].figures[0].value


def test_a_client_bound_search_gives_a_lower_bound(tmp_path: Path) -> None:
    path = add_held(make(tmp_path / "ledger.sqlite", blocks=2), {"select": 90_000, "iterative": 50})
    analysis = reports.analysed(path)
    found = held(analysis)
    assert found["select"].state == AT_LEAST
    assert found["select"].rate.high is None
    assert found["iterative"].state == NOTHING
    lines = list(sentences(analysis))
    assert lines[0] == (
        "select holds at least 30,000 a second (30,000 or more): the client's limit: half of its "
        "capacity is 30,000 a second"
    )
    assert lines[1] == "iterative holds nothing: 88.0 % of what was due was started"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (900.0, 1_100.0, "900 to 1,100"),
        (900.0, None, "900 or more"),
        (0.0, 1_100.0, "1,100 or less"),
        (900.0, 12_000.0, "900 or more"),
        (80.0, 12_000.0, ""),
    ],
)
def test_an_end_that_bounds_nothing_is_left_out(low: float, high: float | None, words: str) -> None:
    assert ends_of(Estimate(1_000.0, low, high, 2, MEASURED)) == words


def test_a_knee_has_p50_and_p99_at_each_share_and_rises(ledger: Path) -> None:
    for one in held(reports.analysed(ledger)).values():
        assert [point.share for point in one.knee] == [0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
        first, last = one.knee[0], one.knee[-1]
        assert last.p50.value > first.p50.high
        assert all(point.p99.trials == 4 for point in one.knee)


def test_client_bound_probes_are_not_in_the_knee(copy: Path) -> None:
    late = "UPDATE probe SET client = json_set(client, '$.client_bound', 'was late')"
    change(copy, f"{late} WHERE kind = '{KNEE}' AND block = 1")
    analysis = reports.analysed(copy)
    knee = held(analysis)["select"].knee
    assert {(point.p50.trials, point.blocks) for point in knee} == {(3, 4)}
    for table in knee_tables(analysis.held[0]):
        assert all("3 of 4 blocks" in one.interval for row in table.rows for one in row.figures)


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ("client = NULL, samples = NULL, why_not = 'failed: it died'", FAILED),
        ("client = json_set(client, '$.client_bound', 'was late')", CLIENT_BOUND),
    ],
)
def test_a_share_missing_in_most_blocks_has_no_latency(copy: Path, told: str, state: str) -> None:
    where = f"kind = '{KNEE}' AND share = 1.0 AND block < 4 AND search_id = 1"
    change(copy, f"UPDATE probe SET {told} WHERE {where}")
    reports.write(copy)
    analysis = reports.analysed(copy)
    first = analysis.held[0].kneed[0]
    last = first.knee[-1]
    assert (last.p99.value, last.p99.state, last.p99.trials, last.blocks) == (None, state, 1, 4)
    (_, p99) = knee_tables(analysis.held[0])
    rows = {row.name: row.figures for row in p99.rows}
    assert rows[first.cell.contender][-1] == Figure(state, "1 of 4 blocks")
    assert "of 4 blocks" not in rows[first.cell.contender][-2].interval


def test_an_unfinished_search_is_in_the_report(copy: Path) -> None:
    change(copy, "DELETE FROM probe WHERE search_id = 3 OR search_id = 2 AND block > 1")
    change(copy, f"DELETE FROM probe WHERE kind = '{KNEE}'")
    for table in ("trial", "cell", "plan", "counter"):
        change(copy, f"DELETE FROM {table}")
    reports.write(copy)
    found = held(reports.analysed(copy))
    assert found["select"].state == UNKNOWN
    assert (found["thread-per-client"].rate.trials, found["thread-per-client"].rate.low) == (
        1,
        None,
    )
    text = copy.with_name("summary.md").read_text()
    assert (
        "This race is not finished: the rates that its contenders hold are not known yet." in text
    )
    assert "| select | not known yet |" in text


def test_every_form_of_the_report_has_the_held_rates(ledger: Path) -> None:
    folder = ledger.parent
    text = reports.told(reports.analysed(ledger))
    (line,) = [line for line in sentences(reports.analysed(ledger)) if line.startswith("select")]
    figure = line.removeprefix("select holds ").partition(" ")[0]
    for words in ("Held rates", figure, "p99 in ms up to the held rate"):
        assert words in text
    rows = list(csv.DictReader((folder / "summary.csv").open()))
    (own,) = [
        row for row in rows if (row["contender"], row["metric"]) == ("select", "held_rate_per_s")
    ]
    assert (own["load"], own["rate"], own["state"], own["trials"]) == (
        "matched",
        "",
        "measured",
        "4",
    )
    assert float(own["low"]) < float(own["value"]) < float(own["high"])
    assert sum(row["load"] == "matched" and row["rate"] != "" for row in rows) == 3 * 6 * 2
    (group,) = json.loads(json.dumps(reports.summary_json(ledger)))["held"]
    assert [one["says"].partition(" holds")[0] for one in group["contenders"]] == list(CAPACITY)
    assert group["contenders"][2]["says"] == line


def test_the_knee_is_a_picture(ledger: Path) -> None:
    drawn = {chart.name for chart in view_of(reports.analysed(ledger)).charts()}
    assert {"knee-p50", "knee-p99"} <= drawn


def test_a_race_ends_with_the_held_rates(ledger: Path) -> None:
    told = reports.printed(reports.screen, ledger, width=80).splitlines()
    for line in sentences(reports.analysed(ledger)):
        assert line in told


def test_the_screen_lists_at_most_six_held_rates(tmp_path: Path) -> None:
    many = {f"server-{number}": 1_000 * number for number in range(1, 10)}
    path = add_held(make(tmp_path / "ledger.sqlite", blocks=2), many, blocks=2)
    lines = held_lines(reports.analysed(path))
    assert len(lines) == 7
    assert lines[-1] == "3 more in the report"
    assert all(len(line) <= 80 for line in lines)


def test_a_rate_has_the_digits_that_the_search_resolves() -> None:
    assert [rounded_rate(rate) for rate in (31_412.4, 987.6, 104.2)] == ["31,400", "988", "104"]

"""Held rates, with intervals over the blocks: in the view, the CSV and the JSON."""

import csv
import io
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from regatta.judge.estimates import CLIENT_BOUND, MEASURED, Estimate
from regatta.judge.held_rates import AT_LEAST, HOLDS, NOTHING, UNKNOWN, HeldRate
from regatta.judge.results import Analysis
from regatta.judge.standings import FAILED
from regatta.record.records import KNEE
from regatta.show.build import view_of
from regatta.show.csv import to_csv
from regatta.show.held import ends_of, held_lines, rounded_rate, sentence, verdict
from tests.lab import reports
from tests.lab.synthetic import make
from tests.lab.synthetic_held import CAPACITY, add_held
from tests.ledgers import change


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("held")
    return add_held(make(folder / "ledger.sqlite", connections=[1], blocks=2, requests=20))


@pytest.fixture
def copy(ledger: Path, tmp_path: Path) -> Path:
    """One that a test may change."""
    return Path(shutil.copy(ledger, tmp_path / "ledger.sqlite"))


def held(analysis: Analysis) -> dict[str, HeldRate]:
    return {rate.cell.contender: rate for group in analysis.held for rate in group.members}


def test_the_interval_over_the_blocks_holds_the_truth(ledger: Path) -> None:
    found = held(reports.analysed(ledger))
    for name, truth in CAPACITY.items():
        rate = found[name].rate
        assert (found[name].state, rate.trials) == (HOLDS, 4)
        assert rate.low <= rate.value <= rate.high
        assert rate.low <= truth <= rate.high
        assert rate.high / rate.low < 1.2


def test_the_view_and_the_json_say_who_holds_most_and_how_many_times_as_much(ledger: Path) -> None:
    found = reports.summary_json(ledger)["held"][0]
    assert found["says"].startswith("held rate: select is best: 2.")
    ratios = {rival["contender"]: rival["value"] for rival in found["against_best"]}
    assert ratios["iterative"] == pytest.approx(5, rel=0.05)
    (table,) = reports.section(reports.analysed(ledger), "Held rates").tables
    assert "Held rate: select is best: 2." in table.says
    assert "★" in table.rows[2].figures[0].value
    assert [rate["says"].partition(" holds")[0] for rate in found["contenders"]] == list(CAPACITY)


def test_nobody_is_ahead_of_rates_that_cannot_be_compared(ledger: Path) -> None:
    (group,) = reports.analysed(ledger).held
    unknown = [replace(rival, outcome=CLIENT_BOUND, value=None) for rival in group.against]
    assert verdict(replace(group, against=unknown)) == (
        "held rate: thread-per-client cannot be compared: client-bound; "
        "iterative cannot be compared: client-bound"
    )


def test_a_client_bound_search_gives_a_lower_bound(tmp_path: Path) -> None:
    path = add_held(make(tmp_path / "ledger.sqlite", blocks=2), {"select": 90_000, "iterative": 50})
    analysis = reports.analysed(path)
    found = held(analysis)
    assert (found["select"].state, found["select"].rate.high) == (AT_LEAST, None)
    assert found["iterative"].state == NOTHING
    assert [sentence(rate) for rate in found.values()][:2] == [
        "select holds at least 30,000 a second (30,000 or more): the client's limit: half of its "
        "capacity is 30,000 a second",
        "iterative holds nothing: 88.0 % of what was due was started",
    ]


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
    analysis = reports.analysed(ledger)
    for rate in held(analysis).values():
        assert [point.share for point in rate.knee] == [0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
        first, last = rate.knee[0], rate.knee[-1]
        assert last.p50.value > first.p50.high
        assert all(point.p99.trials == 4 for point in rate.knee)
    assert {"knee-p50", "knee-p99"} <= {chart.name for chart in view_of(analysis).charts()}


def test_client_bound_probes_are_not_in_the_knee(copy: Path) -> None:
    late = "UPDATE probe SET client = json_set(client, '$.client_bound', 'was late')"
    change(copy, f"{late} WHERE kind = '{KNEE}' AND block = 1")
    knee = held(reports.analysed(copy))["select"].knee
    assert {(point.p50.trials, point.blocks) for point in knee} == {(3, 4)}


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
    last = reports.analysed(copy).held[0].kneed[0].knee[-1]
    assert (last.p99.value, last.p99.state, last.p99.trials, last.blocks) == (None, state, 1, 4)
    assert reports.told(reports.analysed(copy))


def test_an_unfinished_search_is_in_the_report(copy: Path) -> None:
    change(copy, "DELETE FROM probe WHERE search_id = 3 OR search_id = 2 AND block > 1")
    change(copy, f"DELETE FROM probe WHERE kind = '{KNEE}'")
    for table in ("trial", "cell", "plan", "counter"):
        change(copy, f"DELETE FROM {table}")
    found = held(reports.analysed(copy))
    assert found["select"].state == UNKNOWN
    rate = found["thread-per-client"].rate
    assert (rate.trials, rate.low) == (1, None)
    text = reports.told(reports.analysed(copy))
    assert "not finished: the rates that its contenders hold are not known yet." in text
    assert "select  | not known yet |" in text


def test_the_csv_has_the_held_rates_and_the_knee(ledger: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(reports.analysed(ledger)))))
    of = ("select", "held_rate_per_s")
    (own,) = [row for row in rows if (row["contender"], row["metric"]) == of]
    shown = {name: own[name] for name in ("load", "rate", "state", "trials")}
    assert shown == {"load": "matched", "rate": "", "state": "measured", "trials": "4"}
    assert float(own["low"]) < float(own["value"]) < float(own["high"])
    assert sum(row["load"] == "matched" and row["rate"] != "" for row in rows) == 3 * 6 * 2


def test_a_race_ends_with_at_most_six_held_rates(ledger: Path, tmp_path: Path) -> None:
    told = reports.printed(reports.screen, ledger, width=80).splitlines()
    assert all(line in told for line in held_lines(reports.analysed(ledger)))
    many = {f"server-{number}": 1_000 * number for number in range(1, 10)}
    path = add_held(make(tmp_path / "ledger.sqlite", blocks=2), many, blocks=2)
    lines = held_lines(reports.analysed(path))
    assert len(lines) == 7
    assert lines[-1] == "3 more in the report"
    assert all(len(line) <= 80 for line in lines)


def test_a_rate_has_the_digits_that_the_search_resolves() -> None:
    assert [rounded_rate(rate) for rate in (31_412.4, 987.6, 104.2)] == ["31,400", "988", "104"]

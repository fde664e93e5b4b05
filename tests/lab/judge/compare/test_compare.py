"""`regatta compare`: what is common, what is worse, and what a script learns from its status."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from regatta.errors import UsageError
from regatta.judge.compare.compare import CellComparison, RaceComparison, compare, decide
from regatta.judge.estimates import Estimate
from regatta.judge.judged import NO_REGRESSION, REGRESSION, UNDECIDED
from regatta.judge.unpaired import Change, unpaired
from regatta.record.metrics import BY_NAME
from regatta.record.read import read
from regatta.record.schema import FILE_NAME
from regatta.show.compared import print_comparison, to_dict
from regatta.verbs.main import app
from tests.lab import reports
from tests.lab.synthetic import CPU_US, make
from tests.ledgers import change

CPU = "cpu_time_per_request_us"


def folder(place: Path, name: str, **changes: Any) -> Path:
    (place / name).mkdir()
    make(place / name / FILE_NAME, **changes)
    return place / name


def compared(old: Path, new: Path, *metrics: str, threshold: float = 0.05) -> RaceComparison:
    return compare(old, new, threshold, metrics or (CPU,))


def shown(comparison: RaceComparison, width: int = 100) -> str:
    return " ".join(reports.printed(print_comparison, comparison, width=width).split())


def status(*arguments: object) -> int:
    return CliRunner().invoke(app, ["compare", *map(str, arguments)]).exit_code


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder(tmp_path_factory.mktemp("races"), "before", blocks=20, seed=1)


def test_without_a_change_there_is_no_regression(before: Path, tmp_path: Path) -> None:
    after = folder(tmp_path, "after", blocks=20, seed=2)
    found = compared(before, after, threshold=0.1)
    assert {each.verdict for each in found.cells} == {NO_REGRESSION}
    assert len(found.cells) == 9
    assert [notice.split(":")[0] for notice in found.notices] == ["Each race is one sitting"]
    assert status(before, after, "--threshold", 10) == 0


def test_only_the_slower_design_is_a_regression(before: Path, tmp_path: Path) -> None:
    slower = {**CPU_US, "select": CPU_US["select"] * 1.2}
    after = folder(tmp_path, "after", blocks=20, seed=2, cpu_us=slower)
    found = compared(before, after)
    worse = [each for each in found.cells if each.verdict == REGRESSION]
    assert {each.cell.contender for each in worse} == {"select"}
    assert len(worse) == 3
    for each in worse:
        assert 1.05 < each.low < each.high < 1.3
    assert "Regression beyond 5 % in 3 of 9 comparisons" in shown(found)
    assert status(before, after) == 1
    # In the other direction it is an improvement, and no regression.
    assert compared(after, before, threshold=0.1).verdict == NO_REGRESSION


def test_a_lower_throughput_is_worse(before: Path, tmp_path: Path) -> None:
    slower = {name: value * 1.3 for name, value in CPU_US.items()}
    after = folder(tmp_path, "after", blocks=20, seed=2, cpu_us=slower)
    metric = "throughput_per_s"
    assert compared(before, after, metric).verdict == REGRESSION
    assert compared(after, before, metric).verdict == NO_REGRESSION
    same = folder(tmp_path, "same", blocks=20, seed=2)
    assert compared(before, same, metric, threshold=0.1).verdict == NO_REGRESSION


def test_multiple_comparisons_are_corrected(before: Path) -> None:
    cell, metric = read(before / FILE_NAME).cells[0], BY_NAME[CPU]
    noise = np.exp(0.007 * np.random.default_rng(3).permutation(np.linspace(-1.5, 1.5, 10)))
    known = Estimate(600.0, 590.0, 610.0, 10, "measured")
    plain = CellComparison(cell=cell, metric=metric, side="server", old=known, new=known)

    def pair(ratio: float) -> tuple[CellComparison, Change | None]:
        return plain, unpaired(600 * noise, 600 * ratio * noise)

    assert [each.verdict for each in decide([pair(1.08)], 0.05)] == [REGRESSION]
    # Nothing can be said of the others: their truth may well be at the threshold.
    found = decide([pair(1.08), *[pair(1.05)] * 30], 0.05)
    assert found[0].verdict == UNDECIDED
    assert "after correction" in found[0].why


def test_few_noisy_blocks_are_undecided_and_it_says_how_many_are_needed(tmp_path: Path) -> None:
    old = folder(tmp_path, "old", blocks=5, noise=0.08, seed=1)
    new = folder(tmp_path, "new", blocks=5, noise=0.08, seed=2)
    found = compared(old, new)
    assert found.verdict == UNDECIDED
    assert "blocks per race" in shown(found)
    assert status(old, new) == 3


def test_a_server_that_fails_in_every_trial_is_a_regression(before: Path, tmp_path: Path) -> None:
    after = folder(tmp_path, "after", blocks=20, seed=2)
    change(after, "UPDATE trial SET status = 'failed', reason = 'it died' WHERE cell_id = 3")
    found = compared(before, after, threshold=0.1)
    assert found.verdict == REGRESSION
    assert "every trial failed in NEW: it died" in shown(found)
    assert any("trials failed" in notice for notice in found.notices)
    # The other way round there is nothing to compare that cell with.
    assert compared(after, before, threshold=0.1).verdict == NO_REGRESSION


def test_with_several_sittings_the_needed_size_is_in_sittings(tmp_path: Path) -> None:
    several = [
        folder(tmp_path, f"{seed}", blocks=2, sittings=5, sitting_noise=0.03, seed=seed)
        for seed in (1, 2)
    ]
    found = compared(*several)
    assert (found.verdict, found.notices) == (UNDECIDED, [])
    assert "sittings per race" in shown(found)
    assert "regatta versus './old --port {port}'" in shown(found)
    single = folder(tmp_path, "one", blocks=20, seed=3)
    mixed = compared(single, several[1])
    assert {(each.verdict, each.why) for each in mixed.cells} == {
        (UNDECIDED, "OLD has 1 and NEW 5 of the --sittings")
    }


def test_a_cell_of_one_race_only_is_listed_and_not_compared(before: Path, tmp_path: Path) -> None:
    after = folder(tmp_path, "after", blocks=20, connections=(10, 50), seed=2)
    found = compared(before, after)
    assert {each.cell.connections for each in found.cells} == {10}
    text = shown(found)
    assert "Only in OLD, so not compared" in text
    assert "Only in NEW, so not compared" in text
    assert "50 connections" in text


def matched(place: Path, name: str, rates: tuple[int, ...], **changes: Any) -> Path:
    """A race at a quarter, a half and three quarters of what the weakest held."""
    made = folder(place, name, axis="rate", steps=rates, connections=(16,), blocks=12, **changes)
    change(made, "UPDATE cell SET load = 'open', rounds = NULL, duration_s = 0.5")
    same = (
        "contender, contender_order, work, connections, engine, dialect, duration_s, top, "
        "max_age_ms, idle, slow, scope, linger_s, placement"
    )
    change(
        made,
        f"INSERT INTO search({same}, load, shares, p99_limit_ms, knee) "
        f"SELECT DISTINCT {same}, 'matched', '[0.25, 0.5, 0.75]', 50, 0 FROM cell",
    )
    return made


def test_under_a_matched_load_equal_shares_are_compared(tmp_path: Path) -> None:
    slower = {**CPU_US, "select": CPU_US["select"] * 1.3}
    old = matched(tmp_path, "old", (1_000, 2_000, 3_000), seed=1)
    new = matched(tmp_path, "new", (1_031, 2_000, 3_092), seed=2, cpu_us=slower)
    found = compared(old, new, threshold=0.1)
    assert {(each.cell.contender, each.cell.rate) for each in found.cells} == {
        (name, rate) for name in CPU_US for rate in (1_031, 2_000, 3_092)
    }
    worse = {each.cell.contender for each in found.cells if each.verdict == REGRESSION}
    assert worse == {"select"}
    assert not found.matched.only_old
    assert not found.matched.only_new
    assert "in OLD and NEW: 1,000 and 1,031 requests/s; 3,000 and 3,092 requests/s." in shown(found)


def test_windows_may_be_longer_in_one_race_than_in_the_other(tmp_path: Path) -> None:
    """`versus` chooses their length when the rates are known, by the time left."""
    old = matched(tmp_path, "old", (1_000, 2_000, 3_000), seed=1)
    new = matched(tmp_path, "new", (1_031, 2_000, 3_092), seed=2)
    change(new, "UPDATE cell SET duration_s = 3.0")
    found = compared(old, new)
    assert len(found.cells) == 9
    assert not found.matched.only_old
    # Where the length tells a load of one race apart from another, it stays what it is.
    change(new, "UPDATE cell SET duration_s = 1.0 WHERE id = 1")
    assert len(compared(old, new).cells) < 9


def test_rates_given_by_a_study_are_not_shares(tmp_path: Path) -> None:
    old = matched(tmp_path, "old", (1_000, 2_000, 3_000))
    new = matched(tmp_path, "new", (1_031, 2_062, 3_092), seed=2)
    for race in (old, new):
        change(race, "DELETE FROM search")
    with pytest.raises(UsageError, match="no cell in common"):
        compared(old, new)


def test_different_studies_machines_and_placements_are_noted(before: Path, tmp_path: Path) -> None:
    after = folder(tmp_path, "after", blocks=20, seed=2)
    change(after, "UPDATE meta SET value = 'mine' WHERE key = 'study_name'")
    change(after, "UPDATE environment SET value = '\"Other CPU\"' WHERE key = 'cpu_model'")
    place = json.dumps(
        {"kind": "loopback", "server_cpus": [0], "client_cpus": [1], "control_groups": True}
    )
    change(after, f"UPDATE environment SET value = '{place}' WHERE key = 'placement'")
    change(after, "UPDATE cell SET placement = 'loopback'")
    found = compared(before, after)
    assert len(found.cells) == 9
    assert [notice.split(":")[0] for notice in found.notices] == [
        "Different studies, quick and mine",
        "Different machines",
        "Different placements",
        "Server CPU was measured differently",
        "Each race is one sitting",
    ]


@pytest.mark.parametrize("data", [b"", b"precious", None], ids=["empty", "text", "absent"])
def test_an_unreadable_ledger_is_a_one_line_error_and_no_regression(
    before: Path, tmp_path: Path, data: bytes | None
) -> None:
    path = tmp_path / FILE_NAME
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(UsageError) as error:
        compared(before, tmp_path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == ([] if data is None else [data])


def test_races_that_cannot_be_compared_are_a_usage_error(before: Path, tmp_path: Path) -> None:
    other = folder(tmp_path, "other", connections=(7,), blocks=2)
    for after, metric, words in (
        (other, CPU, "no cell in common"),
        (before / FILE_NAME, CPU, "same ledger"),
        (folder(tmp_path, "after", blocks=2), "cycles_per_request", "not supported"),
    ):
        with pytest.raises(UsageError, match=words) as error:
            compared(before, after, metric)
        assert error.value.exit_status == 2


@pytest.mark.parametrize(
    "options", [("--metric", "speed"), ("--metric", "cpus_utilized"), ("--threshold", "-1")]
)
def test_wrong_options_are_usage_errors(before: Path, options: tuple[str, str]) -> None:
    found = CliRunner().invoke(app, ["compare", str(before), str(before), *options])
    assert isinstance(found.exception, UsageError)
    assert options[1] in str(found.exception)


def test_json_has_everything_in_the_table(before: Path, tmp_path: Path) -> None:
    after = folder(tmp_path, "after", blocks=20, seed=2)
    plain = json.loads(json.dumps(to_dict(compared(before, after, CPU, "latency_p99_ms"))))
    assert {cell["verdict"] for cell in plain["cells"]} == {NO_REGRESSION, UNDECIDED}
    assert (plain["verdict"], plain["exit_status"]) == (UNDECIDED, 3)
    assert len(plain["cells"]) == 18
    first = plain["cells"][0]
    assert first["low"] <= first["value"] <= first["high"]
    assert first["old"]["low"] <= first["old"]["value"]


def test_a_server_that_fails_often_is_undecided(before: Path, tmp_path: Path) -> None:
    often = {("select", 10, block) for block in range(1, 9)}
    after = folder(tmp_path, "after", blocks=20, seed=2, fail=often)
    (undecided,) = (
        each for each in compared(before, after, threshold=0.1).cells if each.verdict == UNDECIDED
    )
    assert undecided.why == "in NEW: failed in 8 of 20 trials"

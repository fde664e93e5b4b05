"""Verdicts on two versions, from ledgers that were not raced."""

import json
import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from regatta.errors import UsageError
from regatta.judge.judged import (
    DEFAULT,
    JUDGED,
    NO_REGRESSION,
    REGRESSION,
    UNDECIDED,
    Thresholds,
    looks_at,
    planned_looks,
    thresholds,
)
from regatta.judge.regression import (
    AGAIN,
    BASE,
    HEAD,
    NOT_COMPARABLE,
    SIDES,
    Contrast,
    RegressionVerdict,
    decided,
    verdict_of,
)
from regatta.record.read import read
from regatta.record.samples import HEADER, records_in
from regatta.show.regression import details, headline, sentences, verdict_markdown
from regatta.verbs.versus_results import verdict_json
from tests.lab import reports
from tests.lab.family_error_rate import NOISES
from tests.lab.simulated_races import cell
from tests.lab.synthetic import BUSY, make
from tests.lab.synthetic_held import add_held
from tests.lab.verdict_error_rate import FLOOR, family, planted, race, rates
from tests.ledgers import change

MOST = 40


def ledger_of(folder: Path, head: float, again: float = 1.0, **more: object) -> Path:
    """A race in which base takes 400 µs, and the others so many times as much."""
    cpu_us = {BASE: 400.0, AGAIN: 400.0 * again, HEAD: 400.0 * head}
    settings = {"connections": [50], "blocks": MOST, "cpu_us": cpu_us, **more}
    return make(folder / "ledger.sqlite", contenders=SIDES, **settings)


def cpu_only(share: float) -> Thresholds:
    """The others may be ten times as bad."""
    return thresholds(f"cpu={100 * share}%,p50=1000%,p99=1000%,holds=90%")


def judge(path: Path, limits: Thresholds | None = None) -> RegressionVerdict:
    return verdict_of(read(path), limits or cpu_only(0.05), MOST, over=True)


def load_of(chance: np.random.Generator, connections: int, charged: float, busy: float) -> Contrast:
    """Head takes so many times the CPU of base, by either account."""
    blocks = tuple(range(12))
    noise = chance.normal(0, 0.001, (2, len(blocks)))
    accounts = tuple(
        tuple({block: level * (1 + noise[0, block]) for block in blocks} for level in both)
        for both in ((1.0, 1.1), (charged, busy))
    )
    head = np.log(charged) + noise[0]
    return Contrast(cell(1, HEAD, 2, connections), blocks, head, noise[1], accounts)


STATUS = {NO_REGRESSION: 0, REGRESSION: 1, NOT_COMPARABLE: 2, UNDECIDED: 3}
LOADS = {"connections": [1, 50]}
BEYOND_EQUALS = {(AGAIN, 50): 508.0, (HEAD, 50): 400 * 1.3 * 1.27**0.5, (HEAD, 1): 440.0}
CHARGED = "Undecided: charged CPU time shows a regression, which the CPUs' busy time does not"
BUSY_ALONE = "Undecided: the CPUs' busy time shows a regression, which charged CPU time does not"
DENIED = {"busy": {HEAD: BUSY / 1.2}}


@pytest.mark.parametrize(
    ("head", "changes", "outcome", "words"),
    [
        (1.0, {}, NO_REGRESSION, "No regression: "),
        (1.2, {}, REGRESSION, "Regression: head takes 1.2"),
        (0.8, {}, NO_REGRESSION, "head takes 0.8"),
        # What equals differ by, too.
        *(
            (head, {"again": 1.2}, UNDECIDED, "this machine tells equal servers apart")
            for head in (1.3, 1.15, 0.95)
        ),
        (1.7, {"again": 1.2}, REGRESSION, ""),
        (0.7, {"again": 1.2}, NO_REGRESSION, ""),
        (1.0, {**LOADS, "cpu_at": BEYOND_EQUALS}, REGRESSION, "at 1 connection;"),
        (1.0, {**LOADS, "cpu_at": {(HEAD, 50): 520.0}}, REGRESSION, "at 50 connections"),
        (
            1.0,
            {"fail": {(HEAD, 50, block) for block in range(1, MOST, 2)}},
            REGRESSION,
            "head failed in 20 of 40 trials, base did not",
        ),
        (2.0, {"blocks": 5}, UNDECIDED, "needs 6 blocks"),
        (
            0.5,
            {"environment": {"answers_differ": {HEAD: "answers 33 bytes"}}},
            NOT_COMPARABLE,
            "answers 33 bytes",
        ),
        (
            0.5,
            {"fail": {(AGAIN, 50, 3)}, "fail_reason": "9 of 9 requests failed (9 changed)"},
            NOT_COMPARABLE,
            "base-again answers otherwise under load",
        ),
        # Charged time decides, unless the CPUs' busy time contradicts it.
        *(
            (1.2, {"busy": {HEAD: BUSY * busy / 1.2}}, UNDECIDED, CHARGED)
            for busy in (0.9, 1.0, 1.01)
        ),
        (1.0, {"busy": {HEAD: BUSY * 1.2}}, UNDECIDED, BUSY_ALONE),
        *((1.2, {**DENIED, "fail": {(name, 50, 1)}}, UNDECIDED, CHARGED) for name in SIDES[:2]),
        # Busy time of disturbed trials, or with as much of other programs, contradicts nothing.
        (
            1.2,
            {**DENIED, "disturbed": {(name, 50, at) for name in SIDES for at in range(1, 41)}},
            REGRESSION,
            "",
        ),
        (1.2, {"busy": {BASE: 2.0, AGAIN: 2.0, HEAD: 2.2 / 1.2}}, REGRESSION, ""),
        (1.0, {"busy": {BASE: 2.0, AGAIN: 2.0, HEAD: 2.0}}, NO_REGRESSION, ""),
    ],
)
def test_the_verdict_its_exit_status_and_its_headline(
    tmp_path: Path, head: float, changes: dict[str, object], outcome: str, words: str
) -> None:
    verdict = judge(ledger_of(tmp_path, head, **changes))
    assert (verdict.outcome, verdict.exit_status) == (outcome, STATUS[outcome])
    assert words in headline(verdict)


def test_a_difference_at_the_threshold_stays_undecided_and_says_what_it_would_take(
    tmp_path: Path,
) -> None:
    path = ledger_of(tmp_path, 1.055, noise=0.06)
    verdict = judge(path)
    assert (verdict.outcome, verdict.blocks) == (UNDECIDED, MOST)
    lines = details(verdict, reports.analysed(path))
    assert any(line.startswith("to decide: ") for line in lines)


def test_a_difference_beyond_that_of_equals_says_so(tmp_path: Path) -> None:
    path = ledger_of(tmp_path, head=1.7, again=1.2)
    floor, *_ = details(judge(path), reports.analysed(path))
    assert floor.endswith("of base, which the verdict allows for")


def test_equals_that_differ_are_looked_at_again_until_the_race_is_over() -> None:
    chance = np.random.default_rng(11)
    for _ in range(20):
        found = race(NOISES["normal"], chance, 1.15, MOST)
        found = replace(found, floor=found.floor + 0.03)
        assert decided([found], cpu_only(0.05), MOST, over=True).outcome == REGRESSION


def test_a_contradiction_is_final_only_when_the_race_is_over(tmp_path: Path) -> None:
    path = ledger_of(tmp_path, 1.2, **DENIED)
    assert not verdict_of(read(path), cpu_only(0.05), MOST, over=False).is_final


def test_the_load_that_busy_time_denies_is_not_the_one_that_is_named() -> None:
    chance = np.random.default_rng(3)
    loads = [load_of(chance, 1, 1.2, 1.3), load_of(chance, 50, 1.5, 1.1)]
    verdict = decided(loads, cpu_only(0.05), 12, over=True)
    assert [load.why != "" for load in verdict.loads] == [False, True]
    assert verdict.outcome == REGRESSION
    assert "at 1 connection;" in headline(verdict)


class TestLooks:
    def test_their_shares_are_the_level_whenever_the_race_ends(self) -> None:
        for most in (6, 7, 40, 125, 200):
            assert planned_looks(most)[-1] == most
            for blocks in range(6, most + 1):
                looks = looks_at(blocks, most, over=True)
                assert looks[-1][0] == blocks
                assert sum(share for _, share in looks) <= 1 + 1e-9
                assert len(looks_at(blocks, most, over=False)) <= len(looks)

    def test_a_race_judged_as_it_grows_ends_as_one_judged_afterwards(self) -> None:
        chance = np.random.default_rng(7)
        for ratio in (1.0, 1.03, 1.05):
            found = race(NOISES["normal"], chance, ratio, MOST)
            growing = (
                decided([found.first(blocks)], cpu_only(0.02), MOST, over=blocks == MOST)
                for blocks in range(1, MOST + 1)
            )
            first = next((verdict for verdict in growing if verdict.is_final), None)
            whole = decided([found], cpu_only(0.02), MOST, over=True)
            assert first == (whole if whole.is_final else None)


class TestErrorRates:
    """Simulated, 400 races each; more cases: python -m tests.lab.verdict_error_rate."""

    @pytest.mark.parametrize("noise", ["normal", "skewed", "one with two states"])
    def test_five_per_cent_are_found_and_equals_pass(self, noise: str) -> None:
        worse = rates(NOISES[noise], 1.05, threshold=0.02)
        assert worse[REGRESSION] >= 0.95
        equal = rates(NOISES[noise], 1.0, threshold=0.02)
        assert equal[REGRESSION] + equal[FLOOR] <= 0.05
        assert equal[NO_REGRESSION] >= 0.9

    def test_a_difference_of_just_the_threshold_is_called_wrong_in_few(self) -> None:
        at = rates(NOISES["normal"], 1.02, threshold=0.02)
        assert at[REGRESSION] <= 0.05
        assert at[NO_REGRESSION] <= 0.05

    def test_equal_bases_are_told_apart_in_few(self) -> None:
        at = rates(NOISES["skewed"], 1.02, threshold=0.02)
        assert at[FLOOR] <= 0.02


class TestFamily:
    """All four in one family, 200 races each, with what varies as it was measured."""

    @pytest.mark.parametrize("noise", ["normal", "skewed"])
    def test_equals_are_called_different_in_few(self, noise: str) -> None:
        limits = thresholds(DEFAULT)
        found = family(NOISES[noise], planted(limits, "", 0), limits, 200)
        assert found["all"][REGRESSION] <= 0.05
        assert found["all"][NO_REGRESSION] >= 0.8

    @pytest.mark.parametrize("name", [judged.name for judged in JUDGED])
    def test_twice_the_threshold_is_found_in_each_by_its_own_name(self, name: str) -> None:
        limits = thresholds(DEFAULT)
        found = family(NOISES["normal"], planted(limits, name, 2), limits, 200)
        assert found[name][REGRESSION] >= 0.95
        others = [found[judged.name][REGRESSION] for judged in JUDGED if judged.name != name]
        assert max(others) <= 0.05


class TestWhatIsJudged:
    def test_what_is_not_named_has_its_default(self) -> None:
        usual = thresholds(DEFAULT)
        assert thresholds("2%") == {**usual, "cpu": 0.02}
        assert thresholds("2") == {**usual, "cpu": 0.02}
        assert thresholds("p99=40%, holds=20%") == {**usual, "p99": 0.4, "holds": 0.2}

    @pytest.mark.parametrize(
        "text", ["", "memory=5%", "holds=100%", "cpu=", "5%;p99=2%", "p50=nan%"]
    )
    def test_a_mistake_is_refused_and_the_form_is_shown(self, text: str) -> None:
        with pytest.raises(UsageError, match="as in cpu=5%"):
            thresholds(text)

    def test_a_head_that_only_answers_later_is_a_regression_of_latency(
        self, tmp_path: Path
    ) -> None:
        path = slower(ledger_of(tmp_path, 1.0), HEAD, 20_000_000)
        verdict = judge(path, thresholds(DEFAULT))
        assert verdict.outcome == REGRESSION
        assert verdict.by_name == {"cpu": NO_REGRESSION, "p50": REGRESSION, "p99": REGRESSION}
        assert "latency p" in headline(verdict)

    @pytest.mark.parametrize(
        ("holds", "outcome"),
        [(9_000, REGRESSION), (19_700, NO_REGRESSION), (40_000, NO_REGRESSION)],
    )
    def test_the_rate_that_head_holds_is_judged(
        self, tmp_path: Path, holds: int, outcome: str
    ) -> None:
        path = ledger_of(tmp_path, 1.0, connections=[16])
        add_held(path, {BASE: 20_000, AGAIN: 20_000, HEAD: holds}, blocks=6)
        verdict = judge(path, thresholds(DEFAULT))
        assert (verdict.by_name["holds"], verdict.outcome) == (outcome, outcome)
        held = next(load for load in verdict.loads if load.judged.name == "holds")
        ratio = held.over_base(held.head)
        assert ratio.low <= ratio.value <= ratio.high
        if holds < 30_000:  # else the client was the limit
            assert ratio.value == pytest.approx(holds / 20_000, rel=0.03)

    def test_two_that_hold_all_that_the_client_can_ask_are_equal(self, tmp_path: Path) -> None:
        path = ledger_of(tmp_path, 1.0, connections=[16])
        add_held(path, {BASE: 60_000, AGAIN: 50_000, HEAD: 40_000}, blocks=4)
        assert judge(path, thresholds(DEFAULT)).by_name["holds"] == NO_REGRESSION

    def test_two_searches_are_too_few_and_it_says_so(self, tmp_path: Path) -> None:
        path = ledger_of(tmp_path, 1.0, connections=[16])
        add_held(path, {BASE: 20_000, AGAIN: 20_000, HEAD: 20_000}, blocks=2)
        verdict = judge(path, thresholds(DEFAULT))
        assert (verdict.outcome, verdict.exit_status) == (UNDECIDED, 3)
        assert any("holds needs 3 searches" in line for line in sentences(verdict))

    def test_json_names_each_with_its_outcome(self, tmp_path: Path) -> None:
        path = ledger_of(tmp_path, 1.2, connections=[16])
        add_held(path, {BASE: 20_000, AGAIN: 20_000, HEAD: 10_000}, blocks=6)
        found = verdict_json(judge(path, thresholds(DEFAULT)))
        assert (found["outcome"], found["exit_status"]) == (REGRESSION, 1)
        assert found["outcomes"]["holds"] == found["outcomes"]["cpu"] == REGRESSION
        ratios = {load["judged"]: load["head_over_base"]["value"] for load in found["loads"]}
        assert ratios["holds"] == pytest.approx(0.5, rel=0.03)
        assert ratios["cpu"] == pytest.approx(1.2, rel=0.03)
        json.dumps(found, allow_nan=False)


def slower(path: Path, contender: str, by_ns: int) -> Path:
    """All its requests end so much later."""
    with closing(sqlite3.connect(path)) as database, database:
        query = (
            "SELECT t.id, samples FROM trial t JOIN cell c ON c.id = cell_id WHERE contender = ?"
        )
        for number, data in database.execute(query, (contender,)).fetchall():
            raw = zlib.decompress(data)
            records = records_in(raw).copy()
            records["end_ns"] += by_ns
            packed = zlib.compress(raw[: HEADER.size] + records.tobytes())
            database.execute("UPDATE trial SET samples = ? WHERE id = ?", (packed, number))
    return path


class TestWords:
    def test_the_comment_is_short_and_the_verdict_comes_first(self, tmp_path: Path) -> None:
        path = ledger_of(tmp_path, 1.2)
        lines = verdict_markdown(judge(path), reports.analysed(path), "regatta `x`").splitlines()
        assert len(lines) == 14
        assert lines[0].startswith("**Regression: head takes 1.2")
        assert [line.split(":")[0] for line in lines[2:5]] == ["- cpu", "- p50", "- p99"]
        assert [line.split(" | ")[0].strip("| ") for line in lines[8:11]] == [*SIDES]
        assert lines[12].startswith("floor: base again takes ")
        assert "Example CPU 9000" in lines[12]
        assert lines[13] == "Again: `` regatta `x` ``"

    def test_a_hostile_environment_moves_no_cursor_and_ends_no_table(self, tmp_path: Path) -> None:
        path = ledger_of(tmp_path, 1.0)
        change(path, "UPDATE environment SET value = '\"a|b\\u001b[2J\"' WHERE key = 'cpu_model'")
        text = verdict_markdown(judge(path), reports.analysed(path), "a\n\x1b[2J")
        assert "\x1b" not in text
        assert len(text.splitlines()) == 14


def test_what_a_decision_takes_falls_with_the_distance_from_the_threshold() -> None:
    chance = np.random.default_rng(1)
    quiet = race(NOISES["normal"], chance, 1.0, MOST)

    def needed(ratio: float) -> int | None:
        load = replace(quiet, head=quiet.head - quiet.head.mean() + np.log(ratio))
        return decided([load], cpu_only(0.02), MOST, over=True).loads[0].blocks_needed

    assert needed(1.02) is None
    near, far = needed(1.025), needed(1.2)
    assert near is not None
    assert far is not None
    assert near > MOST > far

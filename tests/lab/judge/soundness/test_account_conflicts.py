"""The two accounts of server CPU time are shown, and contradictions are reported."""

import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis
from regatta.judge.standings import FAILED, RIVALS, UNCONFIRMED, Entry, Standings, verdicts
from regatta.judge.statistics.leads import Lead, Measures, rank_conflicts, unconfirmed_leads
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import Units
from regatta.record import metrics
from regatta.record.counters import counted
from regatta.record.read import read
from regatta.record.records import Trial
from regatta.show.notes import notes
from regatta.show.verdicts import headline, verdict_sentence
from regatta.show.versus import sentences
from tests.lab import fake_records, reports, synthetic

SAYS = "the two accounts contradict each other"
OTHERWISE = {"select": 1.6, "thread-per-client": 0.9}
"""By its charge select needs 15 % less than thread-per-client; its CPUs are busy 50 % longer."""
ASLEEP = {
    "cpu_us": {"iterative": 90.0, "select": 100.0, "thread-per-client": 150.0},
    "busy": {"iterative": 1.31, "select": 1.2, "thread-per-client": 1.2},
}
"""iterative is charged 10 % less than select, as its CPUs sleep more, but busy equally long."""


def analysed(folder: Path, **changes: object) -> Analysis:
    folder.mkdir(exist_ok=True)
    return analyse(read(synthetic.make(folder / "ledger.sqlite", **changes)))


def said(analysis: Analysis, words: str = SAYS) -> list[str]:
    return [note.sentence for note in notes(analysis) if words in note.sentence]


def test_designs_ranked_oppositely_by_the_accounts_are_named(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, busy=OTHERWISE, connections=(10,))
    found = analysis.groups[0].contradictions
    assert [(pair.less, pair.more) for pair in found] == [
        ("select", "thread-per-client"),
        ("select", "iterative"),
        ("iterative", "thread-per-client"),
    ]
    assert 1.1 < found[0].first < 1.3
    assert 0.6 < found[0].second < 0.75
    (sentence,) = said(analysis)
    assert sentence.startswith("At 10 connections")
    for words in ("thread-per-client is charged", "of select", "2 other pairs"):
        assert words in sentence


def test_accounts_that_agree_give_no_warning(tmp_path: Path) -> None:
    analysis = analysed(tmp_path)
    assert not any(group.contradictions for group in analysis.groups)
    assert said(analysis) == []


LESS = {block: 1.0 + block / 1000 for block in range(8)}
MORE = {block: 1.2 + block / 900 for block in range(8)}
EITHER = {block: 1.0 + (-1) ** block / 2 for block in range(8)}
EVEN = {block: 1.0 + (-1) ** block / 1000 for block in range(8)}
FEW = ({0: 1.0, 1: 1.1}, {0: 3.0, 1: 3.1})


@pytest.mark.parametrize(
    ("a", "b", "conflict"),
    [
        ((LESS, MORE), (MORE, LESS), True),
        ((LESS, EITHER), (MORE, EITHER), False),
        ((LESS, LESS), (MORE, MORE), False),
        (FEW, FEW[::-1], False),
        ((LESS, MORE), None, False),
    ],
)
def test_a_pair_not_distinguishable_by_one_account_is_no_contradiction(
    a: Measures, b: Measures | None, conflict: bool
) -> None:
    step = {"a": a} | ({} if b is None else {"b": b})
    assert bool(rank_conflicts({1: step})) == conflict


def lead(of: Measures, over: Measures) -> list[Lead]:
    return unconfirmed_leads({(1, "a", "b"): (of, over)})


@pytest.mark.parametrize(
    ("of", "over", "unconfirmed"),
    [
        ((LESS, LESS), (MORE, EVEN), True),
        ((LESS, LESS), (MORE, MORE), False),
        # Busy time is only noisier, or not known.
        ((LESS, LESS), (MORE, EITHER), False),
        ((LESS, {}), (MORE, EVEN), False),
        # Busy time reverses it; or charged time shows no such lead.
        ((LESS, MORE), (MORE, LESS), True),
        ((MORE, LESS), (LESS, MORE), False),
    ],
)
def test_a_lead_is_unconfirmed_only_if_the_accounts_differ(
    of: Measures, over: Measures, unconfirmed: bool
) -> None:
    assert lead(of, over) == ([(1, "a", "b")] if unconfirmed else [])


def test_a_lead_over_somebody_who_is_behind_another_too_is_not_missed() -> None:
    """Busy time shows b ahead of c, so c needs more, whatever a looks like."""
    pair = {
        (1, "a", "c"): ((LESS, MORE), (MORE, MORE)),
        (1, "b", "c"): ((LESS, LESS), (MORE, MORE)),
    }
    assert not unconfirmed_leads(pair)
    pair[1, "b", "c"] = ((LESS, MORE), (MORE, MORE))
    assert unconfirmed_leads(pair) == list(pair)


def test_other_programs_that_cost_both_the_same_do_not_hide_a_lead() -> None:
    """The ratio of busy time shrinks to 1.004; the difference stays, and no gap is shown."""
    rest = {block: 50.0 + (-1) ** (block // 2) * 20 for block in range(8)}
    shaken = {block: (-1) ** block / 2 for block in range(8)}
    busy = {block: LESS[block] + rest[block] + shaken[block] for block in range(8)}
    more = {block: MORE[block] + rest[block] - shaken[block] for block in range(8)}
    assert not lead((LESS, busy), (MORE, more))


def test_busy_time_of_disturbed_trials_denies_no_lead(tmp_path: Path) -> None:
    disturbed = {(name, 10, block) for name in ASLEEP["cpu_us"] for block in range(1, 11)}
    for name, trials in (("disturbed", disturbed), ("undisturbed", set())):
        found = analysed(tmp_path / name, disturbed=trials, **ASLEEP, connections=(10,))
        assert bool(found.groups[0].unconfirmed) is (name == "undisturbed")


def times(factor: float, blocks: BlockValues = LESS) -> BlockValues:
    return {block: factor * value for block, value in blocks.items()}


def raced(*steps: dict[str, tuple[float, float]]) -> Standings:
    """By step: each contender's charged and busy time."""
    return verdicts(
        {
            at: {
                name: Entry(times(charged), busy=times(busy))
                for name, (charged, busy) in of.items()
            }
            for at, of in enumerate(steps, start=1)
        }
    )


def test_the_next_is_the_nearest_whether_busy_time_shows_it_or_not() -> None:
    found = raced({"a": (1.0, 2.0), "b": (1.1, 2.1), "c": (1.8, 1.99)}).overall
    assert found.rivals == {"c": UNCONFIRMED}
    assert (found.front, found.runner_up, found.worse) == ("a", "b", ("b",))


def test_over_all_steps_each_step_has_the_same_weight() -> None:
    """In µs the second step would decide, where both accounts have b ahead by a thousandth."""
    cheap, dear = {"a": (1.0, 2.0), "b": (1.5, 2.4)}, {"a": (1000.0, 1001.0), "b": (999.0, 1000.0)}
    found = raced(cheap, dear)
    assert found.overall.worse == ("b",)
    assert found.unconfirmed == []
    asleep = {"a": (1.0, 2.0), "b": (1.5, 1.99)}
    assert raced(asleep, dear).overall.rivals == {"b": UNCONFIRMED}


def test_over_all_steps_two_are_compared_at_those_that_both_raced() -> None:
    both = {"a": (1.0, 2.0), "b": (1.5, 1.99), "c": (3.0, 4.0)}
    without = {name: of for name, of in both.items() if name != "b"}
    found = raced(both, both, without)
    assert [step.rivals for step in found.by_step] == [{"b": UNCONFIRMED}, {"b": UNCONFIRMED}, {}]
    assert "b" not in found.overall.worse


def test_a_lead_that_busy_time_does_not_show_is_named_and_earns_no_star(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, **ASLEEP, connections=(10, 100))
    (group,) = analysis.groups
    assert [(pair.at, pair.less, pair.more) for pair in group.unconfirmed] == [
        (10, "iterative", "select"),
        (100, "iterative", "select"),
    ]
    assert group.unconfirmed[0].first == pytest.approx(1.09, abs=0.02)
    assert group.unconfirmed[0].second == pytest.approx(1.0, abs=0.03)
    assert said(analysis) == []
    (sentence,) = said(analysis, "does not show the lead")
    assert "busy time does not show the lead of iterative over select, which" in sentence
    assert "as with 1 other pair" in sentence
    for verdict in (*group.by_step, group.overall):
        assert (verdict.outcome, verdict.starred) == (RIVALS, ())
        assert (verdict.best, verdict.worse) == (("iterative",), ("thread-per-client",))
        assert verdict.rivals == {"select": UNCONFIRMED}
        sentence = verdict_sentence(group, verdict)
        assert "there is no winner: iterative" in sentence
        assert "but busy time does not show its lead over select. " in sentence
        assert re.search(r"The next, select, is charged 1\.(0\d|1\d) times as much", sentence)
        failed = replace(verdict, rivals={**verdict.rivals, "poll": FAILED})
        assert verdict_sentence(group, failed).endswith("poll (failed) may be as good.")
    assert headline(group) == "iterative is ahead, but select may be as good"
    words = (
        r"CPU per request: iterative is ahead; thread-per-client takes 1\.\d+ times as much .+; "
        r"select is charged 1\.\d+ times as much \(.+\), which busy time does not show"
    )
    for step in group.steps:
        assert re.fullmatch(words, next(sentences(group, step)))


def test_designs_that_busy_time_tells_apart_keep_their_verdicts(tmp_path: Path) -> None:
    """It need not be the same lead, nor known at all."""
    known = []
    for name, busy in (("same", {}), ("more", {"iterative": 1.5}), ("none", None)):
        (tmp_path / name).mkdir()
        path = synthetic.make(tmp_path / name / "ledger.sqlite", **({"busy": busy} if busy else {}))
        if busy is None:
            with sqlite3.connect(path) as ledger:
                ledger.execute("DELETE FROM counter WHERE event = 'busy-time'")
        known.append([(group.by_step, group.overall) for group in analyse(read(path)).groups])
    assert known[0] == known[1] == known[2]
    assert all(overall.starred for steps in known for _, overall in steps)


def test_accounts_that_contradict_in_one_sitting_of_several_do_not_contradict() -> None:
    """Thirty blocks, but five numbers; what lies between sittings is no order of the two."""
    sitting_of = {block: block // 6 for block in range(30)}
    far = {0: 1.3, 1: 1.01, 2: 0.99, 3: 1.02, 4: 0.98}
    noise = np.random.default_rng(1).normal(1.0, 0.005, (4, 30))
    up = {block: far[sitting_of[block]] * noise[0, block] for block in sitting_of}
    down = {block: noise[1, block] / far[sitting_of[block]] for block in sitting_of}
    even = [{block: float(row[block]) for block in sitting_of} for row in noise[2:]]
    steps = {1: {"a": (up, down), "b": (even[0], even[1])}}
    assert rank_conflicts(steps)
    assert not rank_conflicts(steps, Units(sitting_of))
    steady = {block: 1.2 * noise[0, block] for block in sitting_of}
    (found,) = rank_conflicts(
        {1: {"a": (steady, even[1]), "b": (even[0], steady)}}, Units(sitting_of)
    )
    assert (found.less, found.more) == ("b", "a")
    assert found.first == pytest.approx(1.2, abs=0.01)
    assert found.second == pytest.approx(1 / 1.2, abs=0.01)


@pytest.mark.parametrize("sittings", [1, 2])
def test_a_race_in_sittings_hands_them_to_its_accounts(tmp_path: Path, sittings: int) -> None:
    """Two sittings show no order, however many blocks they have."""
    analysis = analysed(tmp_path, busy=OTHERWISE, connections=(10,), sittings=sittings)
    assert bool(analysis.groups[0].contradictions) == (sittings == 1)


def test_a_race_without_steering_says_who_is_charged_for_receiving(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, connections=(10,))

    def steering_notes(**changes: object) -> list[str]:
        environment = {**analysis.environment, **changes}
        found = notes(replace(analysis, environment=environment))
        assert not any(note.line for note in found), "there is nothing to do about it on a screen"
        return [note.sentence for note in found if "not steered" in note.sentence]

    none = {"placement": {"kind": "loopback", "steering": "none"}}
    (sentence,) = steering_notes(**none)
    assert "server CPU per request includes the client's receive path" in sentence
    (before_steering,) = steering_notes(placement={"kind": "netns"})
    assert before_steering == sentence
    (apart,) = steering_notes(**none, irq_time_accounting=True)
    assert apart.startswith("Packets were not steered: CPU busy per request includes")
    assert "charges interrupt time to no program" in apart
    assert steering_notes() == steering_notes(placement="?") == []


def test_the_json_has_the_second_account_and_what_contradicts(tmp_path: Path) -> None:
    path = synthetic.make(tmp_path / "ledger.sqlite", busy=OTHERWISE)
    reports.write(path)
    group = reports.summary_json(path)["groups"][0]
    (first, *_) = group["accounts_contradict"]
    assert first["less"] == "select"
    assert first["busy"] < 1 < first["charged"]
    name = metrics.BUSY.name
    assert all(cell["metrics"]["server"][name]["value"] > 0 for cell in group["cells"])
    assert any(pair["metric"] == name for pair in group["against_best"])
    assert group["leads_unconfirmed"] == [], "they are contradicted"


def trial(busy_ns: float) -> Trial:
    counter = counted("busy-time", busy_ns, "ns")
    return fake_records.trial({("server", "cpus", "busy-time"): counter}, answered=10)


def test_cpus_with_more_steal_than_busy_time_have_no_figure() -> None:
    assert metrics.BUSY.read(trial(-2e6), "server") == "not counted"
    assert metrics.BUSY.read(trial(3e6), "server") == 300.0
    assert metrics.BUSY.read(trial(3e6), "client") == "not supported"

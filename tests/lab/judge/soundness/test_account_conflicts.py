"""The two accounts of server CPU time are shown, and leads that one of them denies."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis
from regatta.judge.standings import FAILED, RIVALS, UNCONFIRMED, Verdict, verdicts
from regatta.judge.statistics.leads import Accounts, Lead, unconfirmed_leads
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
from tests.lab.synthetic import Entry
from tests.ledgers import change


def analysed(folder: Path, **changes: object) -> Analysis:
    return analyse(read(synthetic.make(folder / "ledger.sqlite", **changes)))


CHARGED = {"iterative": 90.0, "select": 100.0, "thread-per-client": 150.0}
# Charged 10 % less than the next, as its CPUs sleep more, but busy equally long.
SLEEPS = {"cpu_us": CHARGED, "busy": {"iterative": 1.31, "select": 1.2, "thread-per-client": 1.2}}


def test_a_lead_that_busy_time_does_not_show_is_named(tmp_path: Path) -> None:
    path = synthetic.make(tmp_path / "ledger.sqlite", connections=(10, 100), **SLEEPS)
    analysis = analyse(read(path))
    found = analysis.groups[0].unconfirmed
    assert [(one.at, one.less, one.more) for one in found] == [
        (10, "iterative", "select"),
        (100, "iterative", "select"),
    ]
    assert found[0].charged == pytest.approx(1.09, abs=0.02)
    assert found[0].busy == pytest.approx(1.0, abs=0.03)
    (note,) = (note for note in notes(analysis) if "does not show the lead" in note.sentence)
    assert "of iterative over select" in note.sentence
    assert "1 other pair" in note.sentence
    (group,) = reports.summary_json(path)["groups"]
    assert [lead["less"] for lead in group["leads_unconfirmed"]] == ["iterative"] * 2


@pytest.mark.parametrize(("hit", "is_denied"), [(range(1, 11), False), ((), True)])
def test_busy_time_of_disturbed_trials_denies_no_lead(
    tmp_path: Path, hit: Sequence[int], is_denied: bool
) -> None:
    disturbed = {(name, 10, block) for name in CHARGED for block in hit}
    analysis = analysed(tmp_path, disturbed=disturbed, connections=(10,), **SLEEPS)
    assert bool(analysis.groups[0].unconfirmed) is is_denied


LESS = {block: 1.0 + block / 1000 for block in range(8)}
MORE = {block: 1.2 + block / 900 for block in range(8)}


def lead(of: Accounts, over: Accounts) -> list[Lead]:
    return unconfirmed_leads({(1, "a", "b"): (of, over)})


def test_a_lead_is_unconfirmed_only_if_the_accounts_differ() -> None:
    either = {block: 1.0 + (-1) ** block / 2 for block in range(8)}
    even = {block: 1.0 + (-1) ** block / 1000 for block in range(8)}
    assert lead((LESS, LESS), (MORE, even)) == [(1, "a", "b")]
    assert not lead((LESS, LESS), (MORE, MORE)), "busy time confirms it"
    assert not lead((LESS, LESS), (MORE, either)), "busy time is only noisier"
    assert not lead((LESS, {}), (MORE, even)), "busy time is not known"
    assert not unconfirmed_leads({})


def test_a_lead_that_busy_time_reverses_is_unconfirmed() -> None:
    assert lead((LESS, MORE), (MORE, LESS)) == [(1, "a", "b")]
    assert not lead((MORE, LESS), (LESS, MORE)), "charged time shows no such lead"


def test_a_lead_over_somebody_who_is_behind_another_too_is_not_missed() -> None:
    """Busy time shows b ahead of c, so c needs more, whatever a looks like."""
    pair = {
        (1, "a", "c"): ((LESS, MORE), (MORE, MORE)),
        (1, "b", "c"): ((LESS, LESS), (MORE, MORE)),
    }
    assert not unconfirmed_leads(pair)
    pair[1, "b", "c"] = ((LESS, MORE), (MORE, MORE))
    assert unconfirmed_leads(pair) == list(pair)


def times(factor: float, blocks: BlockValues = LESS) -> BlockValues:
    return {block: factor * value for block, value in blocks.items()}


def raced(*steps: dict[str, tuple[float, float]]) -> tuple[list[Verdict], Verdict]:
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
    found = raced({"a": (1.0, 2.0), "b": (1.1, 2.1), "c": (1.8, 1.99)})[1]
    assert found.rivals == {"c": UNCONFIRMED}
    assert (found.front, found.runner_up, found.worse) == ("a", "b", ("b",))


def test_over_all_steps_each_step_has_the_same_weight() -> None:
    """In µs the second step would decide, where both accounts have b ahead by a thousandth."""
    cheap, dear = {"a": (1.0, 2.0), "b": (1.5, 2.4)}, {"a": (1000.0, 1001.0), "b": (999.0, 1000.0)}
    _, overall = raced(cheap, dear)
    assert (overall.worse, overall.unconfirmed) == (("b",), ())
    asleep = {"a": (1.0, 2.0), "b": (1.5, 1.99)}
    assert raced(asleep, dear)[1].rivals == {"b": UNCONFIRMED}


def test_over_all_steps_two_are_compared_at_those_that_both_raced() -> None:
    both = {"a": (1.0, 2.0), "b": (1.5, 1.99), "c": (3.0, 4.0)}
    without = {name: of for name, of in both.items() if name != "b"}
    by_step, overall = raced(both, both, without)
    assert [verdict.rivals for verdict in by_step] == [{"b": UNCONFIRMED}, {"b": UNCONFIRMED}, {}]
    assert "b" not in overall.worse


def test_other_programs_that_cost_both_the_same_do_not_hide_a_lead() -> None:
    """The ratio of busy time shrinks to 1.004; the difference stays, and no gap is shown."""
    rest = {block: 50.0 + (-1) ** (block // 2) * 20 for block in range(8)}
    shaken = {block: (-1) ** block / 2 for block in range(8)}
    busy = {block: LESS[block] + rest[block] + shaken[block] for block in range(8)}
    more = {block: MORE[block] + rest[block] - shaken[block] for block in range(8)}
    assert not lead((LESS, busy), (MORE, more))


def test_a_lead_that_busy_time_does_not_show_earns_no_star(tmp_path: Path) -> None:
    (group,) = analysed(tmp_path, connections=(10, 100), **SLEEPS).groups
    for verdict in (*group.by_step, group.overall):
        assert (verdict.outcome, verdict.starred) == (RIVALS, ())
        assert (verdict.best, verdict.worse) == (("iterative",), ("thread-per-client",))
        assert verdict.rivals == {"select": UNCONFIRMED}
        sentence = verdict_sentence(group, verdict)
        assert "there is no winner: iterative" in sentence
        assert "busy time does not show its lead over select" in sentence
        assert "The next, select, is charged 1." in sentence
        failed = replace(verdict, rivals={**verdict.rivals, "poll": FAILED})
        assert verdict_sentence(group, failed).endswith("poll (failed) may be as good.")
    assert "select may be as good" in headline(group)
    for step in group.steps:
        assert "select is charged 1." in next(sentences(group, step))


@pytest.mark.parametrize("busy", [{}, {"iterative": 1.5}, None])
def test_designs_that_busy_time_tells_apart_keep_their_verdicts(
    tmp_path: Path, busy: dict[str, float] | None
) -> None:
    """It need not be the same lead, nor known at all."""
    path = synthetic.make(tmp_path / "ledger.sqlite", busy=busy or {})
    if busy is None:
        change(path, "DELETE FROM counter WHERE event = 'busy-time'")
    analysis = analyse(read(path))
    for group in analysis.groups:
        assert group.overall.starred
        assert not group.unconfirmed
        assert UNCONFIRMED not in {why for of in group.by_step for why in of.rivals.values()}
    assert not any("busy time" in note.sentence for note in notes(analysis))


def test_a_lead_is_denied_by_sittings_and_not_by_their_blocks() -> None:
    """Thirty blocks, but five numbers: the busy time of one sitting denies no lead in all."""
    sitting_of = {block: block // 6 for block in range(30)}
    noise = np.random.default_rng(1).normal(1.0, 0.005, (4, 30))
    charged, dearer, busy, even = [dict(enumerate(map(float, row))) for row in noise]
    dearer = {block: 1.2 * value for block, value in dearer.items()}
    busy = {block: value * (3 if sitting_of[block] == 0 else 1) for block, value in busy.items()}
    leads: dict[Lead, tuple[Accounts, Accounts]] = {
        (1, "a", "b"): ((charged, busy), (dearer, even))
    }
    assert unconfirmed_leads(leads)
    assert not unconfirmed_leads(leads, Units(sitting_of))


@pytest.mark.parametrize(("sittings", "is_denied"), [(1, True), (2, False)])
def test_a_race_in_sittings_hands_them_to_its_accounts(
    tmp_path: Path, sittings: int, is_denied: bool
) -> None:
    """Two sittings show no order, however many blocks they have."""
    analysis = analysed(tmp_path, connections=(10,), sittings=sittings, **SLEEPS)
    assert bool(analysis.groups[0].unconfirmed) == is_denied


def test_a_race_without_steering_says_who_is_charged_for_receiving(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, connections=(10,))

    def told(**changes: object) -> list[str]:
        found = notes(replace(analysis, environment=analysis.environment | changes))
        return [note.sentence for note in found if "not steered" in note.sentence]

    none = {"placement": {"kind": "loopback", "steering": "none"}}
    (sentence,) = told(**none)
    assert "server CPU per request includes the client's receive path" in sentence
    assert told(placement={"kind": "netns"}) == [sentence], "from before steering"
    (apart,) = told(**none, irq_time_accounting=True)
    assert "CPU busy per request includes" in apart
    assert told() == told(placement="?") == []


def trial(busy_ns: float) -> Trial:
    counter = counted("busy-time", busy_ns, "ns")
    return fake_records.trial({("server", "cpus", "busy-time"): counter}, answered=10)


def test_cpus_with_more_steal_than_busy_time_have_no_figure() -> None:
    assert metrics.BUSY.read(trial(-2e6), "server") == "not counted"
    assert metrics.BUSY.read(trial(3e6), "server") == 300.0
    assert metrics.BUSY.read(trial(3e6), "client") == "not supported"

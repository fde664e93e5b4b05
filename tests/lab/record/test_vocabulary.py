"""One table of what can be counted: studies, claims and perf take theirs from it."""

import pytest

from regatta.judge.claims.evidence import measure
from regatta.record.cell import PROCESS, WINDOW
from regatta.record.counters import (
    COUNTERS,
    CPU_TIME,
    EVENTS,
    PERCENT,
    TOPDOWN,
    CounterKind,
    Event,
    parse_event_name,
)
from regatta.record.perf_output import parse_output, select
from regatta.record.study.statement import METRIC_SIDES

NAMES = [one.name for one in COUNTERS]


def test_every_counter_has_one_row() -> None:
    assert len(set(NAMES)) == len(NAMES)
    perf = [one.perf for one in COUNTERS if one.perf]
    assert len(set(perf)) == len(perf)


def test_no_counter_has_a_second_spelling() -> None:
    """Nor the other name that `perf list` gives it."""
    assert len({name.lower().replace("_", "-") for name in NAMES}) == len(NAMES)
    others = {"branch-instructions", "cpu-cycles", "cs", "faults", "migrations"}
    others |= {f"idle-cycles-{end}" for end in ("frontend", "backend")}
    assert not others & set(NAMES)


@pytest.mark.parametrize("event", EVENTS)
def test_what_a_study_may_ask_for_has_an_answer_from_perf(event: str) -> None:
    answered = {counter.event for counter in select([event], parse_output(""))}
    shares = {one.name for one in COUNTERS if one.unit == PERCENT}
    assert answered == (shares if event == TOPDOWN else {event})


@pytest.mark.parametrize("name", [one.perf for one in COUNTERS if one.perf])
def test_perfs_name_of_it_is_told_from_its_modifiers(name: str) -> None:
    assert parse_event_name(name) == Event(name, None, user_only=False)
    assert parse_event_name(f"{name}:u") == Event(name, None, user_only=True)


@pytest.mark.parametrize("one", COUNTERS, ids=NAMES)
def test_a_claim_may_be_over_every_counter(one: CounterKind) -> None:
    if one.name == CPU_TIME:
        return  # claims call it by perf's names of it
    assert one.claimed_as in METRIC_SIDES
    for scope in (WINDOW, PROCESS):
        assert measure(one.claimed_as, scope).metric

"""One table of what can be counted: studies, claims and perf take theirs from it."""

import pytest

from regatta.record.counters import (
    COUNTERS,
    CPU_TIME,
    EVENTS,
    PERCENT,
    TOPDOWN,
    Event,
    parse_event_name,
)
from regatta.record.perf_output import read_counters
from regatta.record.study.statement import METRIC_SIDES

NAMES = [counter.name for counter in COUNTERS]


def test_no_counter_has_a_second_row_or_spelling() -> None:
    """Nor the other name that `perf list` gives it."""
    perf = [counter.perf for counter in COUNTERS if counter.perf]
    assert len(set(perf)) == len(perf)
    assert len({name.lower().replace("_", "-") for name in NAMES}) == len(NAMES)
    others = {"branch-instructions", "cpu-cycles", "cs", "faults", "migrations"}
    others |= {f"idle-cycles-{end}" for end in ("frontend", "backend")}
    assert not others & set(NAMES)


@pytest.mark.parametrize("event", EVENTS)
def test_what_a_study_may_ask_for_has_an_answer_from_perf(event: str) -> None:
    answered = {counter.event for counter in read_counters("", [event])}
    shares = {counter.name for counter in COUNTERS if counter.unit == PERCENT}
    assert answered == (shares if event == TOPDOWN else {event})


@pytest.mark.parametrize("name", [counter.perf for counter in COUNTERS if counter.perf])
def test_perfs_name_of_it_is_told_from_its_modifiers(name: str) -> None:
    assert parse_event_name(name) == Event(name, None, user_only=False)
    assert parse_event_name(f"{name}:u") == Event(name, None, user_only=True)


def test_a_claim_may_be_over_every_counter() -> None:
    """Claims call CPU time by perf's names of it."""
    counters = [counter for counter in COUNTERS if counter.name != CPU_TIME]
    assert {counter.claimed_as for counter in counters} <= METRIC_SIDES.keys()

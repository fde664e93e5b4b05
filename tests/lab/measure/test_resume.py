"""A race that goes on is measured as it was begun, or not at all."""

from pathlib import Path
from typing import Any, cast

import pytest

from regatta.errors import UsageError
from regatta.measure.accounts.cgroup import Home
from regatta.measure.accounts.whole_cpu import STAT, TIMER_LIST
from regatta.measure.network.steering import Steering
from regatta.measure.perf import Perf
from regatta.measure.places.side import SidePlacement
from regatta.measure.places.sides import Placement
from regatta.measure.race.resume import keep_accounts, restore_placement
from regatta.record.study import parse_study
from regatta.record.study.find import Design
from regatta.record.study.limits import OWN_SIDE, UNSTEERED
from regatta.record.write import Ledger

STUDY = """
name = "mine"
[placement]
steering = "OTHER"
[[cells]]
designs = ["select"]
connections = 1
"""
HOME = Home(Path("/nowhere"), "")
THREADS = {"placement": {"control_groups": False}, "perf_follows": "threads"}
CLOCKS = {"placement": {}}
GROUPS = {"placement": {"control_groups": True}, "perf_follows": "control group"}
GROUPS_ONLY = {"placement": {"control_groups": True}, "perf_follows": "threads"}
STEERED = {"placement": {"steering": OWN_SIDE}}
BY_TICKS, EXACT = (
    {"placement": {"whole_cpu": {"source": source}}} for source in (STAT, TIMER_LIST)
)


class FakeLedger:
    """Stands for a ledger: its environment."""

    def __init__(self, environment: dict[str, object]) -> None:
        self.environment = environment.get

    def placement(self) -> str:
        return "netns"


def go_on(
    begun: dict[str, object], groups: Home | None = HOME, by_group: bool = True, **place: Any
) -> tuple[Placement, Perf]:
    """What it goes on with, where this is found now."""
    sides = (SidePlacement((), (0,), groups), SidePlacement((), (1,), groups))
    now = Placement("netns", None, *sides, "198.18.0.1", **place)
    found = Perf("perf", "9", ("task-clock",), by_group=by_group)
    perf = keep_accounts(cast("Ledger", FakeLedger(begun)), now, found)
    assert (now.server.groups is None) == (now.client.groups is None)
    return now, perf


@pytest.mark.parametrize(
    ("begun", "groups", "by_group"),
    [
        ({}, True, True),
        (GROUPS, True, True),
        (GROUPS_ONLY, True, False),
        (THREADS, False, False),
        (CLOCKS, False, False),
    ],
)
def test_what_a_race_did_without_it_does_without(
    begun: dict[str, object], groups: bool, by_group: bool
) -> None:
    now, perf = go_on(begun)
    assert (now.server.groups is not None, perf.by_group) == (groups, by_group)
    if not groups:
        go_on(begun, groups=None, by_group=False)


def test_a_finer_account_of_sleep_is_not_used_in_a_race_begun_without() -> None:
    now, _ = go_on(BY_TICKS, sleep_source=TIMER_LIST)
    assert now.sleep_source == STAT


@pytest.mark.parametrize(
    ("begun", "now"),
    [
        (GROUPS, {"groups": None, "by_group": False}),
        (GROUPS, {"by_group": False}),
        (EXACT, {"sleep_source": STAT}),
        (STEERED, {"steering": Steering(UNSTEERED)}),
    ],
)
def test_a_race_does_not_go_on_without_what_it_was_begun_with(
    begun: dict[str, object], now: dict[str, Any]
) -> None:
    go_on(begun, sleep_source=TIMER_LIST, steering=Steering(OWN_SIDE))
    with pytest.raises(UsageError, match="resume it as root"):
        go_on(begun, **now)


@pytest.mark.parametrize(
    ("then", "steered"),
    [({"steering": "own-side"}, "own-side"), ({"steering": "none"}, "none"), ({}, "none")],
)
def test_a_race_goes_on_steered_as_it_was_whatever_its_study_says(
    then: dict[str, object], steered: str
) -> None:
    book = FakeLedger({"placement": {"server_cpus": [0], "client_cpus": [1], **then}})
    text = STUDY.replace("OTHER", "none" if steered == "own-side" else "own-side")
    study = restore_placement(parse_study(text, [Design("select", "")]), cast("Ledger", book))
    assert (study.placement, study.server_cpus, study.steering) == ("netns", (0,), steered)

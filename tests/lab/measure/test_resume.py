"""A race that goes on is measured as it was begun, or not at all."""

from pathlib import Path
from typing import cast

import pytest

from regatta.errors import UsageError
from regatta.measure.accounts.cgroup import Home
from regatta.measure.accounts.cpu_sleep import STAT, TIMER_LIST
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


class FakeLedger:
    """Stands for a ledger: its environment."""

    def __init__(self, environment: dict[str, object]) -> None:
        self.environment = environment.get


def go_on(environment: dict[str, object], groups: Home | None, by_group: bool) -> tuple[bool, bool]:
    """Whether the race then has control groups, and whether perf follows them."""
    place = Placement(
        "loopback",
        None,
        SidePlacement((), (0,), groups),
        SidePlacement((), (1,), groups),
        "127.0.0.1",
    )
    found = Perf("perf", "9", ("task-clock",), None, None, by_group)
    kept = keep_accounts(cast("Ledger", FakeLedger(environment)), place, found)
    assert (place.server.groups is None) == (place.client.groups is None)
    return place.server.groups is not None, kept.by_group


@pytest.mark.parametrize(
    ("environment", "then"),
    [
        ({}, (True, True)),
        (GROUPS, (True, True)),
        (GROUPS_ONLY, (True, False)),
        (THREADS, (False, False)),
        (CLOCKS, (False, False)),
    ],
)
def test_what_a_race_did_without_it_does_without(
    environment: dict[str, object], then: tuple[bool, bool]
) -> None:
    assert go_on(environment, HOME, by_group=True) == then


def test_a_race_begun_with_control_groups_does_not_go_on_without() -> None:
    with pytest.raises(UsageError, match="resume it as root"):
        go_on(GROUPS, None, by_group=False)
    with pytest.raises(UsageError, match="resume it as root"):
        go_on(GROUPS, HOME, by_group=False)
    assert go_on(THREADS, None, by_group=False) == (False, False)


@pytest.mark.parametrize(
    ("then", "steered"),
    [({"steering": "own-side"}, "own-side"), ({"steering": "none"}, "none"), ({}, "none")],
)
def test_a_race_goes_on_steered_as_it_was_whatever_its_study_says(
    then: dict[str, object], steered: str
) -> None:
    class Begun(FakeLedger):
        def placement(self) -> str:
            return "netns"

    book = Begun({"placement": {"server_cpus": [0], "client_cpus": [1], **then}})
    other = "none" if steered == "own-side" else "own-side"
    text = STUDY.replace("OTHER", other)
    study = restore_placement(parse_study(text, [Design("select", "")]), cast("Ledger", book))
    assert (study.placement, study.server_cpus, study.steering) == ("netns", (0,), steered)


def test_a_race_goes_on_with_the_account_of_sleep_that_it_was_begun_with() -> None:
    found = Perf("perf", "9", ("task-clock",), None, None, by_group=False)
    sides = (SidePlacement((), (0,)), SidePlacement((), (1,)))
    exact = Placement("netns", None, *sides, "198.18.0.1", sleep_source=TIMER_LIST)
    begun = FakeLedger({"placement": {"whole_cpu": {"source": STAT}}})
    keep_accounts(cast("Ledger", begun), exact, found)
    assert exact.sleep_source == STAT
    begun = FakeLedger({"placement": {"whole_cpu": {"source": TIMER_LIST}}})
    with pytest.raises(UsageError, match="resume it as root"):
        keep_accounts(cast("Ledger", begun), exact, found)


def test_a_race_begun_with_steering_does_not_go_on_without() -> None:
    begun = cast("Ledger", FakeLedger({"placement": {"steering": OWN_SIDE}}))
    found = Perf("perf", "9", ("task-clock",), None, None, by_group=False)
    sides = (SidePlacement((), (0,)), SidePlacement((), (1,)))
    steered = Placement("netns", None, *sides, "198.18.0.1", steering=Steering(OWN_SIDE))
    assert keep_accounts(begun, steered, found) == found
    lost = Placement("netns", None, *sides, "198.18.0.1", steering=Steering(UNSTEERED))
    with pytest.raises(UsageError, match="resume it as root"):
        keep_accounts(begun, lost, found)

"""Each design for $SOAK_MINUTES (30) under mixed load: no leak, no wrong reply.

Results go to soak.csv in the build folder, one line for each run, readings to soak/DESIGN.csv."""

import csv
import fcntl
import json
import os
from pathlib import Path

import pytest

from tests.conformance.preload import preloaded
from tests.servers import ListedDesign, built, runnable
from tests.soak.mixed_load import Soak, soak

MINUTES = float(os.environ.get("SOAK_MINUTES", "30"))
PLANTED_MINUTES = 2.0
pytestmark = pytest.mark.soak


def note(design: ListedDesign, found: Soak) -> None:
    row: dict[str, object] = {
        "design": design.name,
        "minutes": found.seconds / 60,
        "requests": found.requests,
        "wrong": found.wrong,
        "errors": json.dumps(found.errors),
    }
    for what, seen in found.trends.items():
        row |= {f"{what}_first": found.readings[0][what], f"{what}_last": found.readings[-1][what]}
        ends = {"slope": seen.slope, "low": seen.low, "high": seen.high}
        row |= {f"{what}_{name}": f"{value:.4f}" for name, value in ends.items()}
    with Path(built("soak.csv")).open("a", newline="") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # several designs may end at once
        writer = csv.DictWriter(file, row)
        if file.tell() == 0:
            writer.writeheader()
        writer.writerow(row)


def write_readings(design: ListedDesign, found: Soak) -> None:
    path = Path(built("soak")) / f"{design.name}.csv"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["second", *found.trends])
        writer.writeheader()
        for moment, reading in zip(found.moments, found.readings, strict=True):
            writer.writerow({"second": f"{moment:.1f}", **reading})


@pytest.mark.parametrize("design", runnable(), ids=lambda design: design.name)
def test_nothing_leaks_and_every_reply_is_right(design: ListedDesign, tmp_path: Path) -> None:
    found = soak(design, MINUTES, tmp_path)
    note(design, found)
    write_readings(design, found)
    assert (found.wrong, found.errors, found.growing()) == (0, {}, {})


@pytest.mark.parametrize(
    ("leak", "grows"),
    [("memory", "memory_kib"), ("descriptor", "descriptors")],
    ids=["memory", "descriptor"],
)
def test_a_leak_in_one_of_a_thousand_requests_is_found(
    leak: str, grows: str, tmp_path: Path
) -> None:
    (epoll,) = [design for design in runnable() if design.name == "epoll"]
    environment = {"LD_PRELOAD": preloaded("leaking", Path(__file__).parent), "LEAK": leak}
    found = soak(epoll, PLANTED_MINUTES, tmp_path, ("--sandbox", "off"), environment)
    assert grows in found.growing()

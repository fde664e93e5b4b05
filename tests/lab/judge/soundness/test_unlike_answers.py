"""A contender whose answers are not to be believed cannot win, however little it needs."""

from pathlib import Path

import pytest

from regatta.judge.soundness.barred import unlike
from regatta.record.read import read
from regatta.record.records import DIFFER
from regatta.show.verdicts import headline, mark
from tests.lab import reports
from tests.lab.synthetic import make
from tests.lab.synthetic_held import add_held
from tests.ledgers import change

TWO = {"contenders": ("cheat", "honest"), "connections": (10,), "blocks": 12}
CPU_US = {"cheat": 100.0, "honest": 300.0}


def test_without_a_reason_the_one_that_needs_less_wins(tmp_path: Path) -> None:
    (group,) = reports.analysed(make(tmp_path / "ledger.sqlite", cpu_us=CPU_US, **TWO)).groups
    assert mark(group.overall, "cheat") == "★"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"environment": {DIFFER: {"cheat": "answers 1 byte to GET /, honest 4,000 bytes"}}},
            "answers 1 byte to GET /, honest 4,000 bytes",
        ),
        (
            {
                "fail": {("cheat", 10, 5)},
                "fail_reason": "50 of 200 requests failed (50 changed), for example changed: "
                "answered 1 byte instead of 4,000",
            },
            "answers 1 byte instead of 4,000 under load",
        ),
        (
            {
                "fail": {("cheat", 10, 5)},
                "fail_reason": "the warm-up failed: 4 of 4 requests failed, for example early: "
                "answered before the request was read; check the server",
            },
            "answers before it has read the request",
        ),
    ],
)
def test_a_cheat_has_no_star_and_the_reason_is_told(
    tmp_path: Path, changes: dict[str, object], why: str
) -> None:
    """One trial of twelve is enough."""
    path = make(tmp_path / "ledger.sqlite", cpu_us=CPU_US, **TWO, **changes)
    (group,) = reports.analysed(path).groups
    assert not group.overall.starred
    assert mark(group.overall, "cheat") == ""
    assert group.overall.rivals == {"cheat": why}
    assert f"it {why}" in headline(group)


def test_one_that_changes_while_its_rate_is_searched_counts_too(tmp_path: Path) -> None:
    path = add_held(make(tmp_path / "ledger.sqlite"))
    assert unlike(read(path)) == {}
    changed = "failed: 3 of 100 requests failed (3 changed)"
    change(path, "UPDATE probe SET why_not = ? WHERE search_id = 2 AND block = 3", changed)
    assert set(unlike(read(path))) == {"thread-per-client"}

"""Comparisons of designs under the work `scan` warn of the shared cache."""

from pathlib import Path

import pytest

from tests.lab import reports
from tests.lab.synthetic import make

WORDS = "designs share a cache"
SAID_IN = ("report.html", "summary.md")


def written(folder: Path, **race: object) -> tuple[list[bool], list[bool]]:
    """Whether the two reports say it, and each notice of the JSON."""
    ledger = make(folder / "ledger.sqlite", connections=[1], blocks=3, **race)
    reports.write(ledger)
    told = reports.summary_json(ledger)["notices"]
    said = [WORDS in (folder / name).read_text() for name in SAID_IN]
    return said, [WORDS in notice for notice in told]


@pytest.mark.parametrize("work", ["scan", "scan+spin=50us"])
def test_a_scan_comparison_warns_of_the_shared_cache(tmp_path: Path, work: str) -> None:
    said, notices = written(tmp_path, works=[work])
    assert said == [True, True]
    assert sum(notices) == 1


@pytest.mark.parametrize("work", ["classic", "snapshot", "wait=5ms"])
def test_other_works_have_no_such_warning(tmp_path: Path, work: str) -> None:
    said, notices = written(tmp_path, works=[work])
    assert said == [False, False]
    assert not any(notices)


def test_a_single_design_or_a_foreign_server_has_no_such_warning(
    tmp_path: Path,
) -> None:
    for number, contenders in enumerate((["select"], ["select", "mine"])):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert written(folder, works=["scan"], contenders=contenders)[0] == [False, False]

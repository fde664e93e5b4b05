"""What a person reads at the end of a comparison."""

import re
from pathlib import Path

import pytest

from regatta.judge.results import Analysis
from regatta.show.versus import print_versus, without_figures
from tests.lab import reports
from tests.lab.synthetic import make
from tests.lab.synthetic_held import add_held
from tests.ledgers import change

PAIR = ("iterative", "select")


def analysis_in(folder: Path, cpu_us: dict[str, float]) -> Analysis:
    path = folder / "ledger.sqlite"
    return reports.analysed(make(path, contenders=PAIR, connections=[16], cpu_us=cpu_us, blocks=12))


def screen(analysis: Analysis, *seen: str, **terminal: object) -> list[str]:
    return reports.printed(print_versus, analysis, list(seen), width=80, **terminal).splitlines()


def line_of(lines: list[str], begin: str) -> str:
    return " ".join(" ".join(lines).partition(begin)[2].partition(": ")[2].split()[:14])


def test_it_says_who_is_better_by_how_much_and_how_sure_that_is(tmp_path: Path) -> None:
    lines = screen(analysis_in(tmp_path, {"iterative": 640.0, "select": 400.0}))
    says = line_of(lines, "CPU per request")
    assert re.match(r"select is best; iterative takes 1\.(59|6\d) times as much \(1\.5", says)
    assert max(map(len, lines)) <= 80


def test_equals_are_not_distinguishable_and_what_was_detectable_is_said(tmp_path: Path) -> None:
    lines = screen(analysis_in(tmp_path, {"iterative": 600.0, "select": 600.0}))
    says = line_of(lines, "CPU per request")
    assert "are not distinguishable (detectable at 80 % power: " in says
    assert "is best" not in says


def test_what_each_holds_and_its_memory_stand_in_the_table(tmp_path: Path) -> None:
    path = add_held(make(tmp_path / "ledger.sqlite", connections=[16], blocks=8))
    lines = screen(reports.analysed(path))
    titles = next(line for line in lines if "server CPU" in line)
    assert titles.split() == ["server", "CPU", "p50", "p99", "memory", "holds"]
    rows = {line.split()[0]: line.split() for line in lines if line.startswith(("sel", "iter"))}
    assert re.fullmatch(r"★19,[89]\d\d|★20,\d00", rows["select"][-1])
    assert re.fullmatch(r"3,9\d\d|4,0\d\d", rows["iterative"][-1])


@pytest.mark.parametrize(
    ("holds", "says", "factors", "row"),
    [
        ((100, 25_000), r"is best: ([\d.]+) times what iterative", (230, 270), r"★2[45],\d00$"),
        # The client is the limit of one, or of both.
        ((100, 90_000), r"is best: at least (\d+) times what", (200, 300), r"★≥ 30,000$"),
        ((60_000, 90_000), r"be compared: the (client) was its limit", None, r"[^★☆]≥ 30,000$"),
    ],
)
def test_what_each_holds_is_compared_in_a_sentence(
    tmp_path: Path, holds: tuple[int, int], says: str, factors: tuple[int, int] | None, row: str
) -> None:
    path = make(tmp_path / "ledger.sqlite", contenders=PAIR, connections=[16], blocks=8)
    lines = screen(reports.analysed(add_held(path, dict(zip(PAIR, holds, strict=True)))))
    found = re.search(says, line_of(lines, "held rate"))
    assert found, lines
    assert factors is None or factors[0] < float(found[1]) <= factors[1]
    assert re.search(row, next(line for line in lines if line.startswith("select")))


def test_each_figure_that_is_best_has_a_star(tmp_path: Path) -> None:
    lines = screen(analysis_in(tmp_path, {"iterative": 640.0, "select": 400.0}))
    best, worse = (
        next(line for line in lines if line.startswith(name)) for name in ("select", "iterative")
    )
    assert best.count("★") == 3
    assert not set("★☆") & set(worse.replace("☆", "", 1))
    equals = (tmp_path / "equals").mkdir() or tmp_path / "equals"
    lines = screen(analysis_in(equals, {"iterative": 600.0, "select": 600.0}))
    assert "☆" in next(line for line in lines if line.startswith("iterative"))


def test_nobody_is_ahead_of_one_that_cannot_be_compared(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    make(path, contenders=PAIR, connections=[16], cpu_us={"iterative": 640.0, "select": 400.0})
    change(
        path,
        "UPDATE trial SET status = 'failed' WHERE block > 2 "
        "AND cell_id IN (SELECT id FROM cell WHERE contender = 'iterative')",
    )
    says = " ".join(screen(reports.analysed(path)))
    assert "select is not shown to be ahead; iterative cannot be compared: " in says
    assert "is best" not in says


def test_a_server_that_fails_in_a_network_of_its_own_is_told_of_loopback(tmp_path: Path) -> None:
    """Its look on loopback went well, so what it lacks is there."""
    path = add_held(make(tmp_path / "ledger.sqlite", connections=[16], blocks=8), {"select": 9_000})
    why = "failed: the server exited before it was ready: connect ECONNREFUSED 127.0.0.1:5432"
    change(path, f"UPDATE probe SET rate = 100, why_not = '{why}' WHERE kind = 'search'")
    analysis = reports.analysed(path)
    assert without_figures(analysis, ["select"]) == []
    says = " ".join(screen(analysis)).partition("select is not in this race: ")[2]
    assert "ECONNREFUSED" in says
    assert "add --placement loopback" in says
    (absent,) = without_figures(analysis, ["select", "other"])
    assert absent == "other has no figures: it failed in every trial"


def test_searches_that_differ_twofold_are_told(tmp_path: Path) -> None:
    path = add_held(make(tmp_path / "ledger.sqlite", connections=[16], blocks=8))
    lines = screen(reports.analysed(path))
    assert not [line for line in lines if "race again on a quiet machine" in line]
    change(
        path,
        "UPDATE probe SET rate = rate / 4 WHERE kind = 'search' AND block = 2 AND search_id = 3",
    )
    says = " ".join(screen(reports.analysed(path)))
    assert re.search(r"the rate of select found some that are [34]\.\d times as high", says)

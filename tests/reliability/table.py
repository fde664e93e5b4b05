"""The table of docs/reliability.md, case by design, from the results in docs/measured.

usage: python -m tests.reliability.table    (rewrites the table in the page)"""

import csv
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.servers import REPOSITORY

PAGE = REPOSITORY / "docs" / "reliability.md"
MEASURED = REPOSITORY / "docs" / "measured"
BEGIN, END = "<!-- python -m tests.reliability.table -->\n", "<!-- end -->\n"
NONE = "–"
HEADER = (
    *("design", "failed calls: survived", "ring operations", "lost/killed workers"),
    *("hostile: unanswered", "worst p99, ms", "soak: wrong", "growth, KiB", "upgrades: lost"),
)
UNABLE = {"select": "¹"}
"""Designs that fall short by nature under hostile clients, with the number of the footnote."""
ALL_WORKERS_HELD = ("iterative", "prefork", "prethread"), "²"

Rows = list[dict[str, str]]


def read(name: str) -> Rows:
    with (MEASURED / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def columns(name: str) -> list[list[str]]:
    """For files with several columns of the same name."""
    with (MEASURED / f"{name}.csv").open(newline="") as file:
        return list(csv.reader(file))


def of(design: str, rows: Rows) -> Rows:
    return [row for row in rows if row["design"] == design]


def failed_calls(design: str) -> str:
    """All that were tried were survived."""
    for row in of(design, read("failures")):
        tried = sum(int(row[when]) for when in ("serving", "stopping", "starting"))
        return f"{tried:,}/{tried:,}"
    return NONE


def ring_operations(design: str) -> str:
    for row in of(design, read("ring-faults")):
        return f"{row['survived']}/{row['tried']}"
    return NONE


def killed_workers(design: str) -> str:
    for row in of(design, read("killed-workers")):
        return f"{row['requests lost']}/{row['killed']}"
    return NONE


def under_attack(design: str) -> Rows:
    return [row for row in of(design, read("hostile")) if not row["case"].startswith("alone")]


def unanswered(design: str) -> str:
    rows = under_attack(design)
    if not rows:
        return NONE
    blocking, held = ALL_WORKERS_HELD
    mark = held if design.startswith(blocking) else UNABLE.get(design, "")
    return f"{total(rows, 'unanswered'):,}/{total(rows, 'asked'):,}{mark}"


def worst_p99(design: str) -> str:
    found = [(float(row["p99_ms"] or "inf"), row["case"]) for row in under_attack(design)]
    if not found:
        return NONE
    p99_ms, case = max(found)
    return f"{'none' if p99_ms == float('inf') else format(p99_ms, '.0f')} ({case})"


def total(rows: Rows, column: str) -> int:
    return sum(int(row[column]) for row in rows)


def wrong(design: str) -> str:
    for row in of(design, read("soak")):
        return f"{int(row['wrong']):,}/{int(row['requests']):,}"
    return NONE


def growth(design: str) -> str:
    """Low and high bound of the slope, of the second half where that was measured."""
    for row in columns("soak"):
        if row[0] == design:
            low, high = row[-2:] if row[-1] else row[9:11]
            return f"{low}–{high}"
    return NONE


def upgrades(design: str) -> str:
    """Sum of both dialects."""
    for row in columns("upgrades"):
        if row[0] == design:
            asked, lost = int(row[1]) + int(row[3]), int(row[2]) + int(row[4])
            return f"{lost}/{asked:,}"
    return NONE


CASES: tuple[Callable[[str], str], ...] = (
    *(failed_calls, ring_operations, killed_workers, unanswered, worst_p99, wrong, growth),
    upgrades,
)


def lines() -> Iterator[str]:
    yield "|".join(HEADER)
    yield "|".join(itertools.repeat("---", len(HEADER)))
    for row in read("failures"):
        design = row["design"]
        yield "|".join([f"`{design}`", *(case(design) for case in CASES)])


def table() -> str:
    return "\n" + "\n".join(lines()) + "\n\n"


def shown(page: str) -> str:
    """The table in this page."""
    return page.partition(BEGIN)[2].partition(END)[0]


def write(path: Path = PAGE) -> None:
    page = path.read_text()
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert end, "the markers are missing"
    path.write_text(before + begin + table() + end + after)


if __name__ == "__main__":
    write()

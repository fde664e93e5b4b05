"""Results as CSV, one line for each window, and as Markdown tables."""

import csv
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.cases import CASES, Case, cannot
from tests.hostile.window import Window, requests_per_connection
from tests.servers import ListedDesign

ALONE = "alone"
ALONE_KEPT = "alone-kept"
"""With keep-alive connections: the baseline of cases with `takes_all_room`."""
GOAL = 2.0
"""Maximum ratio to the p99 without an attack."""
COLUMNS = (
    *("round", "design", "case", "p99_ms", "asked", "unanswered", "attackers"),
    *("server_mib", "stolen_ms"),
)


@dataclass(frozen=True)
class Row:
    """`p99_ms`: None if unanswered requests reach p99."""

    design: str
    case: str
    p99_ms: float | None
    unanswered: int
    attackers: int
    server_mib: float


def write(path: Path, number: int, design: ListedDesign, case: str, window: Window) -> None:
    """Appends a line."""
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow([*COLUMNS, *window.errors])
        p99 = "" if window.p99_ms is None else f"{window.p99_ms:.3f}"
        found = (window.asked, window.unanswered, window.attackers)
        machine = (f"{window.server_mib:.1f}", f"{window.stolen_ms:.0f}")
        writer.writerow([number, design.name, case, p99, *found, *machine, *window.errors.values()])


def read(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return [
            Row(
                line["design"],
                line["case"],
                float(line["p99_ms"]) if line["p99_ms"] else None,
                int(line["unanswered"]),
                int(line["attackers"]),
                float(line["server_mib"]),
            )
            for line in csv.DictReader(file)
        ]


Windows = dict[tuple[str, str], list[Row]]


def grouped(rows: Sequence[Row]) -> Windows:
    windows: Windows = defaultdict(list)
    for row in rows:
        windows[row.design, row.case].append(row)
    return windows


def p99(windows: Sequence[Row]) -> float | None:
    """The high median; None if it is undefined."""
    found = [float("inf") if row.p99_ms is None else row.p99_ms for row in windows]
    middle = statistics.median_high(found)
    return None if middle == float("inf") else middle


def baseline_of(design: ListedDesign, case: Case) -> str:
    return ALONE_KEPT if requests_per_connection(design, case) == 0 else ALONE


def attacked_cell(design: ListedDesign, case: Case, windows: Windows) -> str:
    """p99, its ratio to the baseline, and the number of unanswered requests."""
    under = windows[design.name, case.name]
    if not under:
        return "–"
    unanswered = sum(row.unanswered for row in under)
    alone, found = p99(windows[design.name, baseline_of(design, case)]), p99(under)
    if found is None or alone is None:
        text = "none"
    else:
        times = found / alone
        text = (
            f"{found:.2f} (× {times:.1f})" if times <= GOAL else f"**{found:.2f}** (× {times:.1f})"
        )
    text += f", {unanswered} lost" if unanswered else ""
    return f"{text} ¹" if cannot(design, case) else text


def alone_cell(design: ListedDesign, windows: Windows) -> str:
    found = [row.p99_ms for row in windows[design.name, ALONE] if row.p99_ms is not None]
    if not found:
        return "–"
    return f"{statistics.median_high(found):.2f} ({min(found):.2f}–{max(found):.2f})"


def attackers_cell(design: ListedDesign, case: Case, windows: Windows) -> str:
    """The minimum over windows: shows whether the attack took place."""
    found = [row.attackers for row in windows[design.name, case.name]]
    return f"{min(found):,}" if found else "–"


def memory_cell(design: ListedDesign, case: str, windows: Windows) -> str:
    found = [row.server_mib for row in windows[design.name, case]]
    return f"{max(found):.1f}" if found else "–"


def table(
    title: str, designs: Sequence[ListedDesign], cells: dict[str, Callable[[ListedDesign], str]]
) -> str:
    lines = [f"| {title} | {' | '.join(cells)} |", "| --- |" + " ---: |" * len(cells)]
    for design in designs:
        told = " | ".join(cell(design) for cell in cells.values())
        lines.append(f"| `{design.name}` | {told} |")
    return "\n".join(lines)


def latency_table(designs: Sequence[ListedDesign], windows: Windows) -> str:
    cells: dict[str, Callable[[ListedDesign], str]] = {
        "alone (range)": lambda design: alone_cell(design, windows)
    }
    for case in CASES:
        cells[case.name] = lambda design, case=case: attacked_cell(design, case, windows)
    return table("p99, ms", designs, cells)


def memory_table(designs: Sequence[ListedDesign], windows: Windows) -> str:
    cells: dict[str, Callable[[ListedDesign], str]] = {}
    for name in (ALONE, *(case.name for case in CASES)):
        cells[name] = lambda design, name=name: memory_cell(design, name, windows)
    return table("MiB", designs, cells)


def attackers_table(designs: Sequence[ListedDesign], windows: Windows) -> str:
    cells: dict[str, Callable[[ListedDesign], str]] = {}
    for case in CASES:
        cells[f"{case.name} (of {case.held:,})"] = lambda design, case=case: attackers_cell(
            design, case, windows
        )
    return table("connections", designs, cells)


def markdown(designs: Sequence[ListedDesign], rows: Sequence[Row]) -> str:
    windows = grouped(rows)
    measured = [design for design in designs if windows[design.name, ALONE]]
    tables = (latency_table, memory_table, attackers_table)
    return "\n\n".join(table_of(measured, windows) for table_of in tables) + "\n"

"""`make bench`: every comparison in one run, as a table, or with --json as JSON.

The exit status says whether the measuring went well, not whether the goals are met: a goal that is
missed is a result.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench.comparisons import comparisons
from bench.side_by_side import Comparison, Outcome, compare
from regatta import perf, placement, programs
from regatta.errors import RegattaError
from regatta.trial import Rig


def measure(compared: list[Comparison], blocks: int, seed: int, console: Console) -> list[Outcome]:
    """All comparisons on one placement; progress goes to the console."""
    order = random.Random(seed)
    outcomes = []
    with (
        placement.make_placement("auto", None, None) as place,
        tempfile.TemporaryDirectory(prefix="regatta-bench-") as folder,
        Progress(console=console, disable=not console.is_terminal) as progress,
    ):
        rig = Rig(
            programs.discover(),
            place,
            perf.without_perf(None),
            events=(),
            warmup_rounds=1,
            scratch=Path(folder) / "trial",
        )
        for comparison in compared:
            task = progress.add_task(comparison.name, total=blocks)

            def advance(task: object = task) -> None:
                progress.advance(task)  # type: ignore[arg-type]

            outcomes.append(compare(rig, comparison, blocks, order, advance))
    return outcomes


def as_table(outcomes: list[Outcome]) -> Table:
    table = Table(
        title="Server CPU per request, ours against the peer, in one interleaved run",
        caption="scan: the peer is the reports' way, opendir, and fopen and fscanf a process",
    )
    for column in ("comparison", "ours µs", "peer µs", "ratio", "95 % interval", "goal", "met"):
        table.add_column(column, justify="left" if column == "comparison" else "right")
    for outcome in outcomes:
        table.add_row(
            outcome.comparison.name,
            f"{outcome.ours_us:.1f}",
            f"{outcome.peer_us:.1f}",
            f"{outcome.ratio:.3f}",
            f"{outcome.low:.3f} to {outcome.high:.3f}",
            f"≤ {outcome.comparison.goal:g}",
            "yes" if outcome.is_met else "no",
        )
    return table


def as_json(outcomes: list[Outcome], blocks: int, seed: int) -> str:
    rows = [
        {
            "comparison": outcome.comparison.name,
            "ours_us": outcome.ours_us,
            "peer_us": outcome.peer_us,
            "ratio": outcome.ratio,
            "low": outcome.low,
            "high": outcome.high,
            "goal": outcome.comparison.goal,
            "is_met": outcome.is_met,
        }
        for outcome in outcomes
    ]
    return json.dumps({"blocks": blocks, "seed": seed, "comparisons": rows}, indent=1)


def main(
    blocks: Annotated[int, typer.Option(min=2, help="trials of each side in each row")] = 15,
    seed: Annotated[int, typer.Option(help="of the order within blocks")] = 7342,
    json_: Annotated[bool, typer.Option("--json", help="print JSON, not a table")] = False,
) -> None:
    """Measures ours side by side with its peers and prints the ratios with their intervals."""
    try:
        outcomes = measure(comparisons(), blocks, seed, Console(stderr=True))
    except RegattaError as error:
        print(f"bench: {error}", file=sys.stderr)
        raise typer.Exit(1) from error
    if json_:
        print(as_json(outcomes, blocks, seed))
    else:
        Console().print(as_table(outcomes))


if __name__ == "__main__":
    typer.run(main)

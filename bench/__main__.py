"""`make bench`: runs every comparison and prints a table, or JSON with --json.

The exit status says whether the measurements succeeded, not whether the goals are met: a missed
goal is a result.
"""

import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from bench import environment
from bench.comparisons import comparisons
from bench.rows import Row, present
from bench.servers import sample_body
from bench.side_by_side import Run, Trials, decide, estimate, plan, run_all, screening
from bench.table import Report, as_json, tables
from bench.testbed import Testbed, raise_descriptor_limit
from regatta.errors import RegattaError, UsageError
from regatta.measure import programs
from regatta.measure.places import placement
from regatta.record.study.find import Design
from regatta.record.study.limits import AUTO

# Width of a table that is written to a file.
FILE_WIDTH = 120


def matching(rows: list[Row], pattern: str) -> list[Row]:
    """The rows whose names match the pattern."""
    try:
        found = [row for row in rows if re.search(pattern, row.name, re.IGNORECASE)]
    except re.error as error:
        raise UsageError(f"--only {pattern!r} is not a regular expression: {error}") from error
    if not found:
        names = "".join(f"\n  {row.name}" for row in rows)
        raise UsageError(f"--only {pattern!r} matches no row; the rows are:{names}")
    return found


def sort_out(rows: list[Row], designs: Sequence[Design]) -> tuple[list[Row], dict[str, str]]:
    """The rows that can be measured here, and the reason for each that cannot.

    A design that was not built is left out; a missing peer is an error.
    """
    missing = {design.name: design.missing for design in designs}
    found = {row.name: present(row, missing) for row in rows}
    measurable = [row for row in found.values() if isinstance(row, Row)]
    for trial in [trial for row in measurable for trial in row.trials()]:
        trial.check()
    return measurable, {name: why for name, why in found.items() if isinstance(why, str)}


@contextmanager
def make_testbed() -> Iterator[Testbed]:
    """A testbed with one CPU for each side."""
    with (
        placement.make_placement(AUTO, None, None) as placed,
        tempfile.TemporaryDirectory(prefix="regatta-bench-") as folder,
    ):
        placed.client = replace(placed.client, cpus=placed.client.cpus[:1])
        bare = Testbed(placed, Path(folder), b"")
        try:
            yield replace(bare, body=sample_body(bare))
        finally:
            bare.sleepers.end()


def with_progress(trials: Trials, what: str, console: Console) -> Iterator[tuple[int, Run]]:
    """Yields each trial before it runs, and shows progress: a bar, or without a terminal a line for
    each block."""
    started, block_now = time.monotonic(), -1
    columns = (BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    hidden = not console.is_terminal
    with Progress(what, *columns, console=console, disable=hidden, transient=True) as bar:
        task = bar.add_task("", total=len(trials))
        for done, (block, run) in enumerate(trials):
            bar.update(task, description=run.name, completed=done)
            if block != block_now and hidden:
                seconds = time.monotonic() - started
                console.print(f"bench: {what}, block {block + 1} begins after {seconds:.0f} s")
            block_now = block
            yield block, run


def measure(
    rows: list[Row], left_out: dict[str, str], blocks: int, seed: int, console: Console
) -> Report:
    """Measures the rows."""
    raise_descriptor_limit()
    order = random.Random(seed)
    with make_testbed() as testbed:
        screened = run_all(
            testbed, with_progress(screening(rows, blocks, order), "screening", console)
        )
        rows = decide(rows, screened)
        measured = run_all(testbed, with_progress(plan(rows, blocks, order), "measuring", console))
        return Report(
            outcomes=[estimate(row, measured) for row in rows],
            left_out=left_out,
            failures=[*screened.failures, *measured.failures],
            environment=environment.describe(testbed.placement),
            blocks=blocks,
            seed=seed,
        )


def main(
    blocks: Annotated[int, typer.Option(min=2, help="Trials of each side for each row.")] = 15,
    only: Annotated[
        str, typer.Option(help="Measure only the rows that match this regular expression.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Seed of the random order within blocks.")] = 7342,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure Regatta beside its peers and print the ratios with their intervals."""
    try:
        designs = programs.discover().designs
        rows = matching(comparisons([design.name for design in designs]), only)
        report = measure(*sort_out(rows, designs), blocks, seed, Console(stderr=True))
    except RegattaError as error:
        print(f"bench: {error}", file=sys.stderr)
        raise typer.Exit(error.exit_status) from error
    if json_:
        print(as_json(report))
    else:
        Console(width=None if sys.stdout.isatty() else FILE_WIDTH).print(*tables(report), sep="\n")
    for failure in report.failures:
        print(f"bench: failed: {failure}", file=sys.stderr)
    if report.failures:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)

"""`make bench`: every comparison in one run, as a table, or with --json as JSON.

The exit status says whether the measuring went well, not whether the goals are met: a goal that is
missed is a result.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bench import environment
from bench.comparisons import comparisons, present
from bench.progress import Teller
from bench.rows import Row
from bench.servers import sample_body
from bench.side_by_side import Measured, Trials, decide, estimate, plan, run_all, screening
from bench.stand import Stand, raise_descriptor_limit, widen_ports
from bench.table import Report, as_json, tables
from regatta.errors import RegattaError, UsageError
from regatta.machine import placement, programs

# Columns of a table that goes to a file.
FILE_WIDTH = 120


def matching(rows: list[Row], pattern: str) -> list[Row]:
    """The rows whose names hold the pattern."""
    try:
        found = [row for row in rows if re.search(pattern, row.name, re.IGNORECASE)]
    except re.error as error:
        raise UsageError(f"--only {pattern!r} is no regular expression: {error}") from error
    if not found:
        names = "".join(f"\n  {row.name}" for row in rows)
        raise UsageError(f"--only {pattern!r} matches none of:{names}")
    return found


def sort_out(rows: list[Row]) -> tuple[list[Row], dict[str, str]]:
    """The rows that can be measured here, and why the others are left out.

    A design that is not there is a result of the build; a peer that is missing is an error.
    """
    listed = programs.ask(programs.find("regatta-server"), "--list-designs", "--json")
    designs = {design["name"]: design["missing"] for design in json.loads(listed)}
    measurable, left_out = [], {}
    for row in rows:
        found = present(row, designs)
        if isinstance(found, str):
            left_out[row.name] = found
        else:
            measurable.append(found)
    for trial in [trial for row in measurable for trial in row.trials()]:
        trial.check()
    return measurable, left_out


@contextmanager
def stand_in_place() -> Iterator[Stand]:
    """One CPU for each side, whatever the machine has."""
    with (
        placement.make_placement(placement.AUTO, None, None) as place,
        tempfile.TemporaryDirectory(prefix="regatta-bench-") as folder,
    ):
        place.client = replace(place.client, cpus=place.client.cpus[:1])
        widen_ports(place)
        bare = Stand(place, Path(folder), b"")
        try:
            yield replace(bare, body=sample_body(bare))
        finally:
            bare.crowds.end()


def measure(rows: list[Row], blocks: int, seed: int, console: Console) -> Report:
    """Measures the rows, and those that cannot be measured are said to be left out."""
    raise_descriptor_limit()
    order = random.Random(seed)
    rows, left_out = sort_out(rows)

    def carry_out(what: str, trials: Trials) -> Measured:
        with Teller(console, what, len(trials)) as teller:
            return run_all(stand, trials, teller.tell)

    with stand_in_place() as stand:
        screened = carry_out("screening", screening(rows, blocks, order))
        rows = decide(rows, screened)
        measured = carry_out("measuring", plan(rows, blocks, order))
        return Report(
            outcomes=[estimate(row, measured) for row in rows],
            left_out=left_out,
            failures=[*screened.failures, *measured.failures],
            environment=environment.describe(stand.place),
            blocks=blocks,
            seed=seed,
        )


def main(
    blocks: Annotated[int, typer.Option(min=2, help="trials of each side in each row")] = 15,
    only: Annotated[str, typer.Option(help="measure the rows that match this pattern")] = "",
    seed: Annotated[int, typer.Option(help="of the order within blocks")] = 7342,
    json_: Annotated[bool, typer.Option("--json", help="print JSON, not a table")] = False,
) -> None:
    """Measures ours side by side with its peers and prints the ratios with their intervals."""
    try:
        report = measure(matching(comparisons(), only), blocks, seed, Console(stderr=True))
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

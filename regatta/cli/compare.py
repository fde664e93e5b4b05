"""`regatta compare`: is anything worse than it was?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from regatta.errors import UsageError

DEFAULT_METRIC = "cpu_time_per_request_us"
MAX_THRESHOLD = 1000.0


def compare(  # noqa: PLR0913, PLR0917  (each parameter is an option that a person may type)
    old: Annotated[Path, typer.Argument(help="The race before: its folder, or its ledger.")],
    new: Annotated[Path, typer.Argument(help="The race after.")],
    threshold: Annotated[
        float, typer.Option(help="How much worse, in per cent, is a regression.")
    ] = 5.0,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="What is compared; may be given several times. The names are those of "
            "summary.csv.",
            show_default=DEFAULT_METRIC,
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            help="A design that the change did not touch. The others are taken relative to it, "
            "block by block: what the machine did to both cancels."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Compare two races of one study, before and after a change.

    For each cell of both races: NEW / OLD with its 95 % interval. It is a regression if the
    interval lies beyond the threshold (also after correction for the number of comparisons), none
    if it lies on the good side of it, and else undecided: the race was too short to tell.

    The exit status is for scripts: 0 no regression in any cell, 1 a regression, 3 undecided,
    2 the two cannot be compared (no ledger, a newer one, a damaged one, nothing in common).

    Race both on the same quiet machine, soon after each other: what a machine does in one hour and
    not in the next looks like a change. A --reference takes most of that out. Another link order
    looks like one too: races of several --sittings know it.

    [bold]Examples[/]

      regatta race quick --out before     then change the server, build, and
      regatta race quick --out after
      regatta compare before after
      regatta compare before after --threshold 10 --metric latency_p99_ms
      regatta compare before after --reference iterative
      regatta compare before after --json > compared.json || test $? -eq 3
    """
    from regatta import compare as comparing  # noqa: PLC0415  (heavy: numpy and scipy)

    if not 0 <= threshold <= MAX_THRESHOLD:
        raise UsageError(
            f"--threshold is {threshold:g}; it must be a number of per cent from 0 to "
            f"{MAX_THRESHOLD:g}"
        )
    found = comparing.compare(
        comparing.Request(old, new, threshold / 100, tuple(metric or [DEFAULT_METRIC]), reference)
    )
    if as_json:
        typer.echo(json.dumps(comparing.to_dict(found), ensure_ascii=False, indent=2))
    else:
        comparing.print_comparison(found, Console())
    raise typer.Exit(found.exit_status)

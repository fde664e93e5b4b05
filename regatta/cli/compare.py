"""`regatta compare`: is anything worse than it was?"""

from pathlib import Path
from typing import Annotated

import typer

from regatta import compare as comparing
from regatta.cli.output import Output, print_json
from regatta.errors import UsageError

DEFAULT_METRIC = "cpu_time_per_request_us"
MAX_THRESHOLD = 1000.0


def compare(  # noqa: PLR0913, PLR0917  (each parameter is an option that a person may type)
    old: Annotated[Path, typer.Argument(help="The race before the change: its folder or ledger.")],
    new: Annotated[Path, typer.Argument(help="The race after it.")],
    threshold: Annotated[
        float,
        typer.Option(help="A change for the worse by more than this percentage is a regression."),
    ] = 5.0,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric to compare, named as in summary.csv; may be repeated.",
            show_default=DEFAULT_METRIC,
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            help="A design that the change did not touch. Others are divided by it within blocks, "
            "which cancels the machine's drift."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Compare two races of one study, before and after a change.

    For each cell of both races: NEW / OLD with its 95 % interval. A regression is an interval
    beyond the threshold (corrected for multiple comparisons), no regression one on the good side;
    all else is undecided: the races were too short to tell.

    Exit status: 0 no regression in any cell, 1 a regression, 3 undecided, 2 not comparable (no
    ledger, a newer one, a damaged one, nothing in common).

    Race both on the same quiet machine, one soon after the other: drift of the machine looks like
    a change. --reference cancels most of it. A different link order looks like one too; only races
    of several --sittings account for it.

    [bold]Examples[/]

      regatta race quick --out before     then change the server, build, and
      regatta race quick --out after
      regatta compare before after
      regatta compare before after --threshold 10 --metric latency_p99_ms
      regatta compare before after --reference iterative
      regatta compare before after --json > compared.json || test $? -eq 3
    """
    if not 0 <= threshold <= MAX_THRESHOLD:
        raise UsageError(
            f"--threshold is {threshold:g}; it must be a percentage from 0 to {MAX_THRESHOLD:g}"
        )
    found = comparing.compare(
        comparing.ComparisonRequest(
            old, new, threshold / 100, tuple(metric or [DEFAULT_METRIC]), reference
        )
    )
    if as_json:
        print_json(comparing.to_dict(found))
    else:
        comparing.print_comparison(found, Output())
    raise typer.Exit(found.exit_status)

"""`regatta compare`: find regressions between two races."""

from pathlib import Path

import typer

from regatta.errors import UsageError
from regatta.judge.compare import compare as comparing
from regatta.show.compared import print_comparison, to_dict
from regatta.verbs.output import Output, options, print_json

DEFAULT_METRIC = "cpu_time_per_request_us"
MAX_THRESHOLD = 1000.0


@options(
    old=typer.Argument(help="The race before the change: its folder or ledger."),
    new=typer.Argument(help="The race after it."),
    threshold="Percentage: a larger change for the worse is a regression.",
    metric=typer.Option(
        help="Metric to compare, as in summary.csv; repeatable.", show_default=DEFAULT_METRIC
    ),
    json="Print the result as JSON.",
)
def compare(
    old: Path,
    new: Path,
    threshold: float = 5.0,
    metric: list[str] | None = None,
    json: bool = False,
) -> None:
    """Compare two races of one study, before and after a change.

    Prints NEW / OLD with its 95 % interval for each cell of both races. If the whole interval is
    beyond the threshold, after correction for multiple comparisons, it is a regression; if all of
    it is within, there is none; otherwise the races were too short to decide.

    Run both on the same quiet machine, soon after each other: drift of the machine looks like a
    change, and so does another link order, unless both races have several --sittings. To race both
    versions in the same minutes, use regatta versus.

    Exit status: 0 no regression in any cell, 1 a regression, 2 not comparable (a ledger is missing,
    damaged or too new, or no cell is in both), 3 undecided.

    [bold]Examples[/]

      regatta race quick --out before     then change the server and build it
      regatta race quick --out after
      regatta compare before after
      regatta compare before after --threshold 10 --metric latency_p99_ms
      regatta compare before after --json > compared.json || test $? -eq 3
    """
    if not 0 <= threshold <= MAX_THRESHOLD:
        raise UsageError(
            f"--threshold is {threshold:g}; it must be a percentage from 0 to {MAX_THRESHOLD:g}"
        )
    metrics = tuple(metric or [DEFAULT_METRIC])
    found = comparing.compare(old, new, threshold / 100, metrics)
    if json:
        print_json(to_dict(found))
    else:
        print_comparison(found, Output())
    raise typer.Exit(found.exit_status)

"""`regatta review`: check measurements that somebody reports."""

import typer

from regatta.teach import review as reviewing
from regatta.verbs.output import Output, options, print_json


@options(
    files=typer.Argument(
        metavar="FILE...",
        help="Output of perf stat or of a load generator, or a table; - is stdin.",
    ),
    json="Print the findings as JSON.",
)
def review(files: list[str], json: bool = False) -> None:
    """Check reported figures: contradictions and gaps.

    Reads perf stat as people paste it (any locale, colours, quotes, prose around it), the output of
    wrk, wrk2, oha, hey, h2load, ab and k6, and tables in CSV or Markdown with one run a row
    (task_clock_ms, cycles, rps, p99_ms, …). Rows that differ only in design or connections are
    compared.

    Contradictions: GHz, rates and percentages that do not follow from their counts; values that no
    machine has; counts of another line or core; one run with two values; more requests in flight
    than connections; percentiles out of order, or with another mean.

    Gaps: time and cycles rank designs differently; one run only; mostly start and end of the
    server; a server that hardly ran; elapsed time that is waiting; multiplexed counters; user space
    only; damaged rows; errors among the answers; p99 at or below the mean, or of few requests; a
    client that was the limit.

    Exit status: 0 nothing found, 1 findings, 2 a file cannot be read.

    [bold]Examples[/]

      perf stat ./server 2>&1 | regatta review -
      regatta review wrk.txt           of wrk -c 100 … > wrk.txt
      regatta review iterative.txt threads.txt select.txt   compare the three
      regatta review report.md         its tables, and perf output around them
      regatta review report.csv --json | jq '.findings[].kind'
      regatta review studies/published/measurements.csv     five lab reports
    """
    found = reviewing.review(files)
    if json:
        print_json(found.to_dict())
    else:
        reviewing.print_review(found, Output())
    raise typer.Exit(1 if found.findings else 0)

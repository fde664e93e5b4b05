"""`regatta review`: what cannot be concluded from these figures?"""

from typing import Annotated

import typer

from regatta import review as reviewing
from regatta.cli.output import Output, print_json


def review(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Output of perf stat, or a table; - is standard input."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Say what cannot be concluded from somebody's figures: perf stat output, or a table.

    It reads perf stat as people paste it (any locale, prose around it), perf stat -j, -x and -I
    (whose intervals it adds up), and tables in CSV or Markdown: a row a run (task_clock_ms,
    cycles, branch_misses, …), a column a run, or a row a figure (metric, value). Rows are
    compared if they differ in design or connections alone.

    Contradictions: GHz, rates and shares that do not follow from their counts; a rate in the place
    of a total; counts of another line or core; one run with two values; intervals that do not add
    up.

    Not shown: time and cycles that rank designs otherwise; one run only; mostly start and end; idle
    intervals among those under load; a server that hardly ran; elapsed time that is waiting;
    counters that took turns; user space alone; digits grouped by lakh; torn rows.

    Exit status: 0 nothing found, 1 findings, 2 a file that cannot be read.

    [bold]Examples[/]

      perf stat ./server 2>&1 | regatta review -
      regatta review iterative.txt threads.txt select.txt     compares the three
      regatta review seconds.txt                     of perf stat -I 1000 -o seconds.txt …
      regatta review report.md                        its tables, and what perf printed beside them
      regatta review report.csv --json | jq '.findings[] | select(.kind == "contradiction")'
      regatta review studies/published/measurements.csv       five lab reports
    """
    found = reviewing.review(files)
    if as_json:
        print_json(reviewing.to_dict(found))
    else:
        reviewing.print_review(found, Output())
    raise typer.Exit(1 if found.findings else 0)

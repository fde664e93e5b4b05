"""The option `--export` of the verbs that show a race."""

import typer

EXPORT = typer.Option(
    metavar="FORMAT:FILE",
    help="Also write the figures for a tool that keeps a history: bmf (Bencher), "
    "github-action-benchmark, otava (added to FILE) or openmetrics. Repeatable.",
    show_default=False,
)

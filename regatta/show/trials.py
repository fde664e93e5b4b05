"""What is wrong with the trials of a cell, and the trials that a note counts, one by one."""

from collections.abc import Iterator

from regatta.judge.results import Analysis, CellResult, rate_words
from regatta.judge.soundness.clients import uses_more_cpus
from regatta.show.view import FOLDED, Section, table_of

HELD_UP = "other programs took CPU from the client"
KEPT = "They are in the ledger, and in no average"


def unfinished(analysis: Analysis) -> bool:
    """Whether trials remain; while rate searches run, their number is unknown."""
    searching = bool(analysis.held) and not analysis.planned
    return searching or analysis.trials < analysis.planned


def client_help(result: CellResult) -> str:
    """What would keep the client of this cell from being the bottleneck."""
    what = "a `rate`" if result.cell.load == "open" else "an open load"
    most = result.comfortable_rate or 0
    rate = f"{what} of at most {most:,} a second, half the client's capacity"
    if not uses_more_cpus(result.cell):
        return rate
    return f"{rate}, or more `client_cpus` in `[placement]` (--client-cpus)"


def cell_words(result: CellResult) -> str:
    """The caveat of a cell; empty if there is none."""
    if result.failing:
        return result.failing
    if result.client_bound and result.comfortable_rate is not None:
        return f"client-bound: {client_help(result)} would help"
    if result.held_up:
        return f"disturbed: {HELD_UP}"
    return rate_words(result)


def trials_sections(analysis: Analysis) -> Iterator[Section]:
    for title, name, noted, says in (
        ("Failed trials", "failed", analysis.failures, f"{KEPT}."),
        (
            "Client-bound trials",
            "client-bound",
            analysis.client_bound,
            f"The client was the bottleneck. {KEPT}; a cell with mostly such trials has no latency "
            "or throughput.",
        ),
        (
            "Disturbed trials",
            "disturbed",
            analysis.disturbed,
            "In per cent of one CPU over the window. Repeated trials are in the ledger, and in no "
            "average.",
        ),
    ):
        tables = table_of(
            title,
            says,
            noted,
            {
                "cell": lambda one: one.cell.label(),
                "block": lambda one: f"{one.trial.block}",
                "kind": lambda one: one.trial.kind,
                "attempt": lambda one: f"{one.trial.attempt}",
                "reason": lambda one: (
                    one.trial.reason
                    or one.trial.client_bound
                    or one.trial.disturbed
                    or "no reason recorded"
                ),
                "then": lambda one: "run again" if one.trial.superseded else "kept",
            },
        )
        if tables:
            yield Section(title, tables=tables, rank=FOLDED, name=name)

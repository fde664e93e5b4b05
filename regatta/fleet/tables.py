"""The tables of a fleet's report, the same on a terminal, in Markdown and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regatta.fleet.fleet import Came
from regatta.fleet.standings import Results, Row, Standings, kind_of, kinds_words, outcome_words
from regatta.report.text.numbers import plural
from regatta.report.text.table import Table

VERDICTS_SAY = (
    "Per kind of machine: which design needs the least server CPU per request, on how many "
    "machines. “A or B”: not distinguishable there. That one wins on all is wrong in at most one "
    "of 20 fleets, as each machine shows it by itself; one that is not among the best on some of "
    "many machines may be so by chance, on one of 20."
)
CLAIMS_SAY = "What each claim of the study comes to, per kind of machine."
KINDS_SAY = "Machines of one kind have the same CPU, as many of them, and the same kernel."
MACHINES_SAY = "Each has a report of its own, in the folder of its name."


def fleet_tables(standings: Standings, came: Sequence[Came]) -> list[Table]:
    """Those that this fleet has; the machines come last."""
    results = {one.name: one.result for one in came if one.result is not None}
    found = [kinds_table(standings), rows_table("Verdicts", VERDICTS_SAY, standings, results)]
    if standings.claims:
        found.append(rows_table("Claims", CLAIMS_SAY, standings, results, claims=True))
    return (
        [*found, machines_table(standings, came)] if results else [machines_table(standings, came)]
    )


def kinds_table(standings: Standings) -> Table:
    words = kinds_words(standings.kinds)
    rows = [[words[kind], kind, f"{len(names)}"] for kind, names in standings.kinds.items()]
    return Table("Kinds of machine", KINDS_SAY, ["kind", "what it is", "machines"], rows)


def rows_table(
    title: str, says: str, standings: Standings, results: Results, claims: bool = False
) -> Table:
    words = kinds_words(standings.kinds)
    rows = [
        [row.where, *(said(row, kind) for kind in words), outcome_words(row, len(results))]
        for row in (standings.claims if claims else standings.verdicts)
    ]
    header = ["claim" if claims else "table", *words.values(), f"all {len(results)}"]
    return Table(title, says, header, rows)


def said(row: Row, kind: str) -> str:
    """`epoll 3, select 1`; without a number where all say the same."""
    tally = row.by_kind.get(kind, {})
    if len(tally) == 1:
        return next(iter(tally))
    return ", ".join(f"{words} {count}" for words, count in tally.items())


def machines_table(standings: Standings, came: Sequence[Came]) -> Table:
    words = kinds_words(standings.kinds)
    rows = [[one.name, *machine_row(one, words)] for one in sorted(came, key=lambda one: one.name)]
    header = ["machine", "kind", "trials", "disturbed", "took", "what came"]
    return Table("Machines", MACHINES_SAY, header, rows)


def machine_row(one: Came, words: Mapping[str, str]) -> list[str]:
    if one.result is None:
        return ["", "", "", "", f"failed: {one.reason}"]
    trials = one.result["trials"]
    took_s = took(one.result)
    return [
        words[kind_of(one.result)],
        f"{trials['run']} of {trials['planned']}",
        f"{trials['disturbed']}",
        "" if took_s is None else f"{took_s:.0f} s",
        plural(trials["failed"], "failed trial") if trials["failed"] else "a report",
    ]


def took(result: Mapping[str, Any]) -> float | None:
    began, ended = result.get("created_at"), result.get("finished_at")
    return float(ended) - float(began) if began and ended else None


def report_of(folder: Path, name: str) -> Path:
    return folder / name / "report.html"

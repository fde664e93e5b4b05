"""What many machines found, read from a fleet or from ledgers, as tables and one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from regatta.errors import LedgerError
from regatta.judge.analyse import analyse
from regatta.record.read import read
from regatta.record.schema import ledger_path
from regatta.show.json_summary import to_dict
from regatta.show.markdown import table_lines
from regatta.show.numbers import plural
from regatta.show.text import escape
from regatta.show.view import Table, plain_table
from regatta.verbs.fleet.fleet import MachineResult
from regatta.verbs.fleet.standings import (
    WINS,
    FleetRow,
    FleetStandings,
    Results,
    kinds_words,
    outcome_words,
    summary_of,
)

VERDICTS_SAY = (
    "The design with the least server CPU per request, and on how many machines of each kind. “A "
    "or B”: not distinguishable there. Each “wins on all” is wrong in at most one of 20 such "
    "tables, as every machine shows it by itself. On one machine of 20, a design may be missing "
    "from the best by chance."
)
CLAIMS_SAY = "The verdict on each claim of the study, per kind of machine."
KINDS_SAY = "Machines of one kind have the same CPU model, number of CPUs and kernel."
MACHINES_SAY = "The first verdict of each machine."


def collected_tables(standings: FleetStandings, outcomes: Sequence[MachineResult]) -> list[Table]:
    """The machines come last."""
    results = {one.name: one.result for one in outcomes if one.result is not None}
    found = [kinds_table(standings), rows_table("Verdicts", VERDICTS_SAY, standings, results)]
    if standings.claims:
        found.append(rows_table("Claims", CLAIMS_SAY, standings, results, claims=True))
    if not results:
        return [machines_table(standings, outcomes)]
    return [*found, machines_table(standings, outcomes)]


def kinds_table(standings: FleetStandings) -> Table:
    words = kinds_words(standings.kinds)
    rows = [[words[kind], kind, f"{len(names)}"] for kind, names in standings.kinds.items()]
    return plain_table("Kinds of machine", KINDS_SAY, ["kind", "machine", "machines"], rows)


def rows_table(
    title: str, says: str, standings: FleetStandings, results: Results, claims: bool = False
) -> Table:
    words = kinds_words(standings.kinds)
    rows = [
        [row.where, *(said(row, kind) for kind in words), outcome_words(row, len(results))]
        for row in (standings.claims if claims else standings.verdicts)
    ]
    header = ["claim" if claims else "table", *words.values(), f"all {len(results)}"]
    return plain_table(title, says, header, rows)


def said(row: FleetRow, kind: str) -> str:
    """`epoll 3, select 1`; without numbers if all machines agree."""
    tally = row.by_kind.get(kind, {})
    if len(tally) == 1:
        return next(iter(tally))
    return ", ".join(f"{words} {count}" for words, count in tally.items())


def machines_table(standings: FleetStandings, outcomes: Sequence[MachineResult]) -> Table:
    words = kinds_words(standings.kinds)
    rows = [
        [one.name, *machine_row(one, words)]
        for one in sorted(outcomes, key=lambda one: in_order(one.name))
    ]
    header = ["machine", "kind", "trials", "disturbed", "took", "result"]
    return plain_table("Machines", MACHINES_SAY, header, rows)


def in_order(name: str) -> list[str | int]:
    """A key that sorts host2 before host10."""
    parts = re.split(r"([0-9]+)", name)
    return [int(part) if number % 2 else part for number, part in enumerate(parts)]


def machine_row(one: MachineResult, words: Mapping[str, str]) -> list[str]:
    if one.result is None:
        return ["", "", "", "", f"failed: {one.reason}"]
    found = summary_of(one.result)
    return [
        words[found.kind],
        f"{found.run} of {found.planned}",
        f"{found.disturbed}",
        "" if found.took_s is None else f"{found.took_s:.0f} s",
        "; ".join(([plural(found.failed, "failed trial")] if found.failed else []) + [found.says]),
    ]


def sentence(standings: FleetStandings, outcomes: Sequence[MachineResult]) -> str:
    """What all machines found, in one line."""
    failed = sum(one.result is None for one in outcomes)
    raced = len(outcomes) - failed
    hold = sum(row.outcome == WINS and row.machines == raced for row in standings.verdicts)
    lost = f"; {plural(failed, 'machine')} without a result" if failed else ""
    return (
        f"{plural(raced, 'machine')} of {plural(len(standings.kinds), 'kind')}: one design wins on "
        f"all in {hold} of {plural(len(standings.verdicts), 'verdict')}{lost}."
    )


def to_markdown(title: str, standings: FleetStandings, outcomes: Sequence[MachineResult]) -> str:
    lines = [f"# {escape(title)}", "", escape(sentence(standings, outcomes)), ""]
    for table in collected_tables(standings, outcomes):
        lines += [f"## {escape(table.title)}", "", *table_lines(replace(table, title=""))]
    return "\n".join(lines)


STUDY, RACE = "study_toml", ("created_at", "seed")
"""What tells studies apart, and the races of one study."""


def read_ledgers(paths: Sequence[Path], say: Callable[[str], None]) -> list[MachineResult]:
    """One a race, named by its ledger's path; says which are copies.

    A ledger that cannot be read, or of another study than the first, has a reason instead of a
    result. LedgerError if none can be read.
    """
    found: list[MachineResult] = []
    seen: dict[tuple[str | None, ...], Path] = {}
    study: str | None = None
    for path in dict.fromkeys(paths):
        try:
            ledger = read(ledger_path(path))
            if study not in (None, ledger.meta[STUDY]):
                other = next(iter(seen.values()))
                raise LedgerError(f"{path} is of another study than {other}; collect it by itself")
            race = tuple(map(ledger.meta.get, RACE))
            if race in seen:
                say(f"{path} is a copy of {seen[race]}: counted once.")
                continue
            found.append(MachineResult(str(path), to_dict(analyse(ledger))))
            seen[race], study = path, ledger.meta[STUDY]
        except LedgerError as error:
            found.append(MachineResult(str(path), None, str(error)))
    if not seen:
        raise LedgerError(found[0].reason)
    return found

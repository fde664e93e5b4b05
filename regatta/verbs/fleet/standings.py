"""Verdicts that hold on all machines, and the verdicts on each kind of machine.

A whole table is right on 19 of 20 machines. "Wins on all" needs the same verdict from every machine
by itself, so it is wrong in at most one of 20 collections, however many machines. "Among the
best on all" has no such guarantee: on one machine the design may be missing by chance.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regatta.judge.standings import LARGER, NO_DIFFERENCE

NO_VERDICT = "no verdict"
WINS, MAY_WIN, DIFFER, UNKNOWN = "wins on all", "among the best on all", "differ", NO_VERDICT
Results = Mapping[str, Mapping[str, Any]]
"""What `regatta race --json` printed on each machine, by its name."""


@dataclass(frozen=True)
class FleetRow:
    """One step of one table, or one claim."""

    where: str
    by_kind: dict[str, dict[str, int]]
    """How many machines of each kind came to each verdict."""
    outcome: str
    """`wins on all`, `among the best on all`, `differ` or `no verdict`; for a claim its verdict if
    all machines agree, else `differ`."""
    names: tuple[str, ...] = ()
    """The designs that the outcome is about."""

    @property
    def machines(self) -> int:
        """The number of machines that raced it."""
        return sum(sum(tally.values()) for tally in self.by_kind.values())


@dataclass(frozen=True)
class FleetStandings:
    kinds: dict[str, list[str]]
    """The machines of each kind."""
    verdicts: list[FleetRow]
    claims: list[FleetRow]


def kind_of(result: Mapping[str, Any]) -> str:
    """What decides whether two machines should give the same results."""
    known = result["environment"]
    where = known.get("virtualisation")
    cpus = known.get("cpus_allowed") or []
    return ", ".join(
        [
            f"{known.get('cpu_model') or 'unknown CPU'} × {len(cpus)}",
            f"virtual ({where})" if where else "bare metal",
            f"Linux {known.get('kernel')}",
        ]
    )


def standings_of(results: Results) -> FleetStandings:
    kinds: dict[str, list[str]] = {}
    for name in sorted(results):
        kinds.setdefault(kind_of(results[name]), []).append(name)
    kind = {name: one for one, names in kinds.items() for name in names}
    verdicts: dict[str, dict[str, Mapping[str, Any]]] = {}
    claims: dict[str, dict[str, str]] = {}
    for name, result in results.items():
        for where, verdict in steps(result):
            verdicts.setdefault(where, {})[name] = verdict
        for claim in result["claims"]:
            claims.setdefault(claim["id"], {})[name] = claim["verdict"]
    return FleetStandings(
        kinds=kinds,
        verdicts=[verdict_row(where, found, kind) for where, found in verdicts.items()],
        claims=[claim_row(where, found, kind) for where, found in claims.items()],
    )


def steps(result: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Each verdict with its place; for a table with several steps also the one over all."""
    found = []
    for group in result["groups"]:
        of = f"{group['title']}: " if group["title"] else ""
        found += [(f"{of}{one['at']:,} {group['axis']}", one) for one in group["by_step"]]
        if len(group["by_step"]) > 1:
            found.append((f"{of}over all", group["overall"]))
    return found


def starred(verdict: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(verdict["best"])) if verdict["outcome"] in (LARGER, NO_DIFFERENCE) else ()


def verdict_row(
    where: str, found: Mapping[str, Mapping[str, Any]], kind: Mapping[str, str]
) -> FleetRow:
    best = {name: starred(verdict) for name, verdict in found.items()}
    said = {name: " or ".join(names) or NO_VERDICT for name, names in best.items()}
    known = [set(names) for names in best.values() if names]
    common = tuple(sorted(set.intersection(*known))) if known else ()
    sure = all(verdict["outcome"] == LARGER for verdict in found.values())
    outcome = UNKNOWN
    if known:
        outcome = (WINS if sure else MAY_WIN) if common else DIFFER
    return FleetRow(where, tallied(said, kind), outcome, common)


def claim_row(where: str, found: Mapping[str, str], kind: Mapping[str, str]) -> FleetRow:
    verdicts = set(found.values())
    return FleetRow(where, tallied(found, kind), verdicts.pop() if len(verdicts) == 1 else DIFFER)


def tallied(said: Mapping[str, str], kind: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Counts by kind of machine, the most frequent verdict first."""
    found: dict[str, Tally[str]] = {}
    for name, words in said.items():
        found.setdefault(kind[name], Tally())[words] += 1
    return {kind: dict(tally.most_common()) for kind, tally in found.items()}


def outcome_words(row: FleetRow, machines: int) -> str:
    """The last column. `machines`: how many there are; some may not have raced this row."""
    some = f" (of {machines})" if row.machines < machines else ""
    names = " or ".join(row.names)
    if row.outcome == WINS:
        return f"{names} {WINS} {row.machines}{some}"
    if row.outcome == MAY_WIN:
        without = sum(tally.get(NO_VERDICT, 0) for tally in row.by_kind.values())
        of = "that have a verdict" if without else f"{row.machines}{some}"
        return f"{names} {'is' if len(row.names) == 1 else 'are'} {MAY_WIN} {of}"
    words = f"machines {row.outcome}" if row.outcome == DIFFER else row.outcome
    return f"{words}, on {row.machines}{some}" if some else words


@dataclass(frozen=True)
class MachineSummary:
    """The race of one machine, for a row of the table."""

    kind: str
    run: int
    planned: int
    disturbed: int
    failed: int
    """These four count trials."""
    took_s: float | None
    """None if the race is not finished."""
    says: str
    """Its first verdict."""


def summary_of(result: Mapping[str, Any]) -> MachineSummary:
    trials, ended = result["trials"], result.get("finished_at")
    return MachineSummary(
        kind=kind_of(result),
        run=int(trials["run"]),
        planned=int(trials["planned"]),
        disturbed=int(trials["disturbed"]),
        failed=int(trials["failed"]),
        took_s=None if ended is None else float(ended) - float(result["created_at"]),
        says=next((str(group["overall"]["sentence"]) for group in result["groups"]), ""),
    )


def kinds_words(kinds: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """A short name for each kind, in the order of the table: A, B, …"""
    return {kind: letters(number) for number, kind in enumerate(kinds)}


def letters(number: int) -> str:
    """A to Z, AA, AB …"""
    found = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        found = chr(ord("A") + rest) + found
    return found

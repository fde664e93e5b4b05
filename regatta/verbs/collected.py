"""What the races of many machines show together: which verdicts hold on all, and on each kind.

A whole table is right on 19 of 20 machines. "Wins on all" needs the same verdict from every machine
by itself, so it is wrong in at most one of 20 collections, however many machines. "Among the
best on all" has no such guarantee: on one machine the design may be missing by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from regatta.errors import LedgerError
from regatta.judge.analyse import analyse
from regatta.judge.standings import LARGER, NO_DIFFERENCE
from regatta.record.read import read
from regatta.record.schema import ledger_path
from regatta.show.json_summary import to_dict
from regatta.show.markdown import table_lines
from regatta.show.numbers import plural
from regatta.show.text import escape
from regatta.show.view import Table, plain_table

NO_VERDICT = "no verdict"
WINS, MAY_WIN, DIFFER = "wins on all", "among the best on all", "differ"
VERDICTS_SAY = (
    "The design with the least server CPU per request, and on how many machines of each kind. “A "
    "or B”: not distinguishable there. Each “wins on all” is wrong in at most one of 20 such "
    "tables, as every machine shows it by itself. On one machine of 20, a design may be missing "
    "from the best by chance."
)
CLAIMS_SAY = "The verdict on each claim of the study, per kind of machine."
KINDS_SAY = "Machines of one kind have the same CPU model, number of CPUs and kernel."
MACHINES_SAY = "The first verdict of each machine."
SHORT = ["".join(pair) for pair in product(["", *ascii_uppercase], ascii_uppercase)]
"""A short name for each kind of machine: A to Z, AA, AB …"""


@dataclass(frozen=True)
class MachineResult:
    """The race of one machine, or why there is none."""

    name: str
    result: dict[str, Any] | None
    """What `regatta race --json` prints of it."""
    reason: str = ""


@dataclass(frozen=True)
class FleetRow:
    """One step of one table, or one claim."""

    where: str
    by_kind: dict[str, dict[str, int]]
    """How many machines of each kind came to each verdict, the most frequent first."""
    outcome: str
    """`wins on all`, `among the best on all`, `differ` or `no verdict`; for a claim its verdict if
    all machines agree, else `differ`."""
    names: tuple[str, ...]
    """The designs that the outcome is about."""
    says: str

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


def result_in(race: Path) -> dict[str, Any]:
    """`race`: its folder or its ledger."""
    return to_dict(analyse(read(ledger_path(race))))


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


def kind_of(result: Mapping[str, Any]) -> str:
    """What decides whether two machines should give the same results."""
    known = result["environment"]
    where = known.get("virtualisation")
    cpus = known.get("cpus_allowed") or []
    model = f"{known.get('cpu_model') or 'unknown CPU'} × {len(cpus)}"
    return (
        f"{model}, {f'virtual ({where})' if where else 'bare metal'}, Linux {known.get('kernel')}"
    )


def standings_of(outcomes: Sequence[MachineResult]) -> FleetStandings:
    """Of the machines that have a result."""
    results = {o.name: o.result for o in outcomes if o.result is not None}
    kind = {name: kind_of(results[name]) for name in sorted(results)}
    verdicts: dict[str, dict[str, Any]] = {}
    claims: dict[str, dict[str, str]] = {}
    for name, result in results.items():
        for where, verdict in steps(result):
            verdicts.setdefault(where, {})[name] = verdict
        for claim in result["claims"]:
            claims.setdefault(claim["id"], {})[name] = claim["verdict"]

    def row(where: str, said: Mapping[str, str], outcome: str, names: Sequence[str]) -> FleetRow:
        tallies: dict[str, Counter[str]] = {}
        for name, words in said.items():
            tallies.setdefault(kind[name], Counter())[words] += 1
        by_kind = {kind: dict(tally.most_common()) for kind, tally in tallies.items()}
        some = f" (of {len(results)})" if len(said) < len(results) else ""
        says = outcome_words(outcome, names, list(said.values()), some)
        return FleetRow(where, by_kind, outcome, tuple(names), says)

    return FleetStandings(
        {each: [name for name in kind if kind[name] == each] for each in kind.values()},
        [row(where, *judged(found)) for where, found in verdicts.items()],
        [
            row(where, found, DIFFER if len({*found.values()}) > 1 else min(found.values()), ())
            for where, found in claims.items()
        ],
    )


def steps(result: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Each verdict with its place; for a table with several steps also the one over all."""
    found = []
    for group in result["groups"]:
        of = f"{group['title']}: " if group["title"] else ""
        found += [(f"{of}{step['at']:,} {group['axis']}", step) for step in group["by_step"]]
        if len(group["by_step"]) > 1:
            found.append((f"{of}over all", group["overall"]))
    return found


def judged(found: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, str], str, list[str]]:
    """What each machine says, what they say together, and of which designs."""
    best = {
        name: sorted(verdict["best"]) if verdict["outcome"] in (LARGER, NO_DIFFERENCE) else []
        for name, verdict in found.items()
    }
    said = {name: " or ".join(names) or NO_VERDICT for name, names in best.items()}
    known = [set(names) for names in best.values() if names]
    if not known:
        return said, NO_VERDICT, []
    common = sorted(set.intersection(*known))
    sure = all(verdict["outcome"] == LARGER for verdict in found.values())
    return said, (WINS if sure else MAY_WIN) if common else DIFFER, common


def outcome_words(outcome: str, names: Sequence[str], said: Sequence[str], some: str) -> str:
    """The last column. `some`: of how many machines, if some have not raced this row."""
    if outcome == WINS:
        return f"{names[0]} {WINS} {len(said)}{some}"
    if outcome == MAY_WIN:
        of = "that have a verdict" if NO_VERDICT in said else f"{len(said)}{some}"
        return f"{' or '.join(names)} {'is' if len(names) == 1 else 'are'} {MAY_WIN} {of}"
    words = f"machines {outcome}" if outcome == DIFFER else outcome
    return f"{words}, on {len(said)}{some}" if some else words


def collected_tables(standings: FleetStandings, outcomes: Sequence[MachineResult]) -> list[Table]:
    """The machines come last."""
    short = dict(zip(standings.kinds, SHORT, strict=False))
    machines = plain_table(
        "Machines",
        MACHINES_SAY,
        ["machine", "kind", "trials", "disturbed", "took", "result"],
        [
            [outcome.name, *machine_row(outcome, short)]
            for outcome in sorted(outcomes, key=lambda outcome: outcome.name)
        ],
    )
    if not standings.kinds:
        return [machines]
    all_ = f"all {sum(map(len, standings.kinds.values()))}"
    kinds = [[short[kind], kind, f"{len(names)}"] for kind, names in standings.kinds.items()]
    found = [plain_table("Kinds of machine", KINDS_SAY, ["kind", "machine", "machines"], kinds)]
    for title, says, first, rows in (
        ("Verdicts", VERDICTS_SAY, "table", standings.verdicts),
        ("Claims", CLAIMS_SAY, "claim", standings.claims),
    ):
        if rows or first == "table":
            lines = [[row.where, *(tallied(row, kind) for kind in short), row.says] for row in rows]
            found.append(plain_table(title, says, [first, *short.values(), all_], lines))
    return [*found, machines]


def tallied(row: FleetRow, kind: str) -> str:
    """`epoll 3, select 1`; without numbers if all machines agree."""
    tally = row.by_kind.get(kind, {})
    if len(tally) == 1:
        return next(iter(tally))
    return ", ".join(f"{words} {count}" for words, count in tally.items())


def machine_row(outcome: MachineResult, short: Mapping[str, str]) -> list[str]:
    result = outcome.result
    if result is None:
        return ["", "", "", "", f"failed: {outcome.reason}"]
    trials = result["trials"]
    failed = [plural(trials["failed"], "failed trial")] if trials["failed"] else []
    return [
        short[kind_of(result)],
        f"{trials['run']} of {trials['planned']}",
        f"{trials['disturbed']}",
        took(result),
        "; ".join([*failed, first_verdict(result)]),
    ]


def took(result: Mapping[str, Any]) -> str:
    """`71 s`; empty if the race is not finished."""
    ended = result.get("finished_at")
    return "" if ended is None else f"{float(ended) - float(result['created_at']):.0f} s"


def first_verdict(result: Mapping[str, Any]) -> str:
    return next((str(group["overall"]["sentence"]) for group in result["groups"]), "")


def sentence(standings: FleetStandings, outcomes: Sequence[MachineResult]) -> str:
    """What all machines found, in one line."""
    failed = sum(outcome.result is None for outcome in outcomes)
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

"""From ledgers to one row per machine and question, and how often each design was best."""

from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regatta.analysis.analyse import analyse
from regatta.analysis.grouping import Members, titles
from regatta.analysis.results import Analysis, Group
from regatta.analysis.standings import LARGER, NO_DIFFERENCE, Verdict
from regatta.errors import LedgerError
from regatta.ledger.cell import WINDOW
from regatta.ledger.read import read
from regatta.ledger.schema import ledger_path
from regatta.study import limits

USUAL = {
    "engine": "epoll",
    "dialect": "line",
    "per_connection": 0,
    "arrivals": "even",
    "top": limits.DEFAULT_TOP,
    "max_age_ms": limits.DEFAULT_MAX_AGE_MS,
    "scope": WINDOW,
    "linger_s": 0.0,
    "counts_taskset": False,
    "idle": 0,
    "slow": 0,
}
"""Defaults of a study; a question names only what differs from them."""


@dataclass(frozen=True)
class Machine:
    cpu: str
    cpus: int | None
    kernel: str
    virtual: str | None
    """The hypervisor or container engine; None: none, or unknown."""


@dataclass(frozen=True)
class Row:
    """One ledger's answer to one question."""

    ledger: str
    machine: Machine
    verdict: Verdict
    trials: int
    planned: int
    """More than `trials` if the race was stopped."""


@dataclass(frozen=True)
class Question:
    """One comparison; independent of what else its race compared."""

    text: str
    designs: tuple[str, ...]
    """Part of the question, because the best design depends on its rivals."""


@dataclass(frozen=True)
class Pooled:
    """One question with its answers from many machines."""

    question: Question
    rows: tuple[Row, ...]

    @property
    def machines(self) -> int:
        """Each ledger counts as one machine, however many rows it has."""
        return len({row.ledger for row in self.rows})

    @property
    def winners(self) -> dict[str, int]:
        """On how many machines each design clearly needed the least."""
        return self.best_where(LARGER)

    @property
    def among(self) -> dict[str, int]:
        """On how many machines it was one of several that cannot be distinguished."""
        return self.best_where(NO_DIFFERENCE)

    @property
    def undecided(self) -> int:
        """On how many machines no design has a star."""
        return len({row.ledger for row in self.rows if not row.verdict.starred})

    def best_where(self, outcome: str) -> dict[str, int]:
        """On how many machines each design was among the best; most frequent first."""
        rows = [row for row in self.rows if row.verdict.outcome == outcome]
        found = Tally(
            name for _, name in {(row.ledger, name) for row in rows for name in row.verdict.best}
        )
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True)
class Collected:
    pooled: tuple[Pooled, ...]
    refused: tuple[str, ...]
    """Why a ledger could not be read; a line each."""
    copies: tuple[tuple[str, str], ...]
    """Ledgers of the same race: the one left out, and the one counted."""


def collect(paths: Sequence[Path]) -> Collected:
    """All readable ledgers; LedgerError if there are none."""
    rows: dict[Question, list[Row]] = {}
    refused, copies = [], []
    seen: dict[tuple[str | None, ...], str] = {}
    for path in dict.fromkeys(paths):
        try:
            analysis = analyse(read(ledger_path(path)))
        except LedgerError as error:
            refused.append(str(error))
            continue
        race = tuple(analysis.meta.get(key) for key in ("created_at", "seed", "study_toml"))
        if race in seen:
            copies.append((str(path), seen[race]))
            continue
        seen[race] = str(path)
        for question, row in rows_of(str(path), analysis):
            rows.setdefault(question, []).append(row)
    if not rows:
        raise LedgerError(refused[0] if refused else "these ledgers hold no race")
    pooled = tuple(Pooled(question, tuple(of)) for question, of in rows.items())
    return Collected(pooled, tuple(refused), tuple(copies))


def rows_of(ledger: str, analysis: Analysis) -> list[tuple[Question, Row]]:
    machine = machine_of(analysis.environment)
    return [
        (
            question_of(group, step),
            Row(ledger, machine, verdict, analysis.trials, analysis.planned),
        )
        for group in analysis.groups
        for step, verdict in zip(group.steps, group.by_step, strict=True)
    ]


def machine_of(environment: dict[str, Any]) -> Machine:
    cpus = environment.get("cpus")
    return Machine(
        cpu=str(environment.get("cpu_model") or "unknown CPU"),
        cpus=cpus if isinstance(cpus, int) else None,
        kernel=str(environment.get("kernel") or "unknown"),
        virtual=environment.get("virtualisation"),
    )


def question_of(group: Group, step: int) -> Question:
    """Names all settings that differ from the defaults, except the placement."""
    first = ("work", "load")
    here = [(name, group.facts.get(name)) for name in first] + [(group.axis.name, step)]
    here += [fact for fact in group.facts.items() if fact[0] not in (*first, "placement")]
    alone = (Members(group.axis, facts, []) for facts in (tuple(USUAL.items()), tuple(here)))
    designs = sorted({result.cell.contender for result in group.at(step)})
    return Question(titles(list(alone))[1], tuple(designs))

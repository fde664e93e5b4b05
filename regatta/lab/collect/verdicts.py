"""From ledgers to one row a machine and question, and how often each design was the best."""

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
"""What a study has that says nothing of it: no question names these."""


@dataclass(frozen=True)
class Machine:
    cpu: str
    cpus: int | None
    kernel: str
    virtual: str | None
    """Who makes it believe in a machine of its own; None: nobody, or nobody says."""


@dataclass(frozen=True)
class Row:
    """What one ledger says of one question."""

    ledger: str
    machine: Machine
    verdict: Verdict
    trials: int
    planned: int
    """Fewer trials than these: its race was stopped."""


@dataclass(frozen=True)
class Question:
    """What was asked, the same whatever else its race asked."""

    text: str
    designs: tuple[str, ...]
    """Between whom, by name: who is the best depends on them."""


@dataclass(frozen=True)
class Pooled:
    """One question, asked on many machines."""

    question: Question
    rows: tuple[Row, ...]

    @property
    def machines(self) -> int:
        """A ledger is a machine, however many rows it has."""
        return len({row.ledger for row in self.rows})

    @property
    def winners(self) -> dict[str, int]:
        """On how many of them each design needed the least, by a clear margin."""
        return self.best_where(LARGER)

    @property
    def among(self) -> dict[str, int]:
        """On how many it was one of several that may need the least."""
        return self.best_where(NO_DIFFERENCE)

    @property
    def undecided(self) -> int:
        """On how many nobody has a star."""
        return len({row.ledger for row in self.rows if not row.verdict.starred})

    def best_where(self, outcome: str) -> dict[str, int]:
        """On how many machines each design was among the best; the most frequent first."""
        rows = [row for row in self.rows if row.verdict.outcome == outcome]
        found = Tally(
            name for _, name in {(row.ledger, name) for row in rows for name in row.verdict.best}
        )
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True)
class Collected:
    pooled: tuple[Pooled, ...]
    refused: tuple[str, ...]
    """Why a ledger is in no table, a line each."""
    copies: tuple[tuple[str, str], ...]
    """Ledgers of one and the same race: that which is left out, and that which stands for it."""


def collect(paths: Sequence[Path]) -> Collected:
    """Whatever can be read of them; LedgerError if nothing can."""
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
    """It names whatever is not as usual, but for where the programs ran: that is the machine's."""
    first = ("work", "load")
    here = [(name, group.facts.get(name)) for name in first] + [(group.axis.name, step)]
    here += [fact for fact in group.facts.items() if fact[0] not in (*first, "placement")]
    alone = (Members(group.axis, facts, []) for facts in (tuple(USUAL.items()), tuple(here)))
    designs = sorted({result.cell.contender for result in group.at(step)})
    return Question(titles(list(alone))[1], tuple(designs))

"""From a situation to advice: recommended designs, what is unknown, and the deciding study."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regatta.advise.deciding import Deciding, deciding_study
from regatta.advise.evidence import Found, MeasuredGroup, search
from regatta.advise.ranking import Ranking, rank
from regatta.advise.situation import Situation, why_far
from regatta.ledger.axes import AXES
from regatta.ledger.cell import Cell
from regatta.report.text.numbers import plural

MOST_VALUES = 8


@dataclass(frozen=True)
class AdviceRequest:
    """The situation, and the races to search."""

    situation: Situation
    ledgers: Sequence[Path]
    """The ledgers to search; if empty, all of this machine in `races`."""
    races: Path
    machine: dict[str, Any]
    """Facts of this machine, named as in a ledger."""
    designs: Sequence[str]
    """Designs that can run here."""


@dataclass(frozen=True)
class Advice:
    situation: Situation
    ranking: Ranking | None
    """For the nearest group with at least two designs; None if nothing near was measured."""
    others: list[MeasuredGroup]
    """Other groups that are near."""
    not_measured: list[str]
    notes: list[str]
    ledgers: int
    deciding: Deciding | None


def advise(request: AdviceRequest) -> Advice:
    situation = request.situation
    found = search(situation, request.ledgers, request.races, request.machine)
    rankings = [rank(situation, group) for group in found.groups]
    chosen = next((each for each in rankings if len(each.favoured) > 1), None)
    chosen = chosen or next((each for each in rankings if each.favoured), None)
    return Advice(
        situation=situation,
        ranking=chosen,
        others=[group for group in found.groups if chosen is None or group is not chosen.group],
        not_measured=_not_measured(situation, chosen, rankings, found),
        notes=found.notes,
        ledgers=found.ledgers,
        deciding=deciding_study(
            situation, chosen, request.designs, int(request.machine.get("cpus") or 1)
        ),
    )


def _not_measured(
    situation: Situation, ranking: Ranking | None, near: list[Ranking], found: Found
) -> list[str]:
    lines = []
    if ranking is None and near:
        reasons = "; ".join(f"{name}: {why}" for name, why in near[0].left_out)
        lines.append(f"Not measured: no design of a near race applies here. {reasons}.")
    elif ranking is None:
        lines.append(_nothing_near(situation, found.raced, found.ledgers))
    if situation.memory_bytes is not None and not _has_memory(ranking):
        lines.append(
            "Memory: not measured. A process or thread per connection needs more than an event "
            "loop; a race with `whole_cost = true`, as the study below, measures it."
        )
    if ranking is not None and ranking.group.elsewhere:
        lines.append(f"On this machine: not measured; {ranking.group.race} is from another one.")
    return lines


def _has_memory(ranking: Ranking | None) -> bool:
    measured = ranking.group.measured if ranking is not None else []
    return any(one.memory.value is not None for one in measured)


def _nothing_near(situation: Situation, raced: list[Cell], ledgers: int) -> str:
    if not raced:
        return "Not measured: this machine has no races yet."
    parts = []
    for name, get in why_far(situation):
        values = list(dict.fromkeys(get(cell) for cell in raced))
        numbers = sorted(value for value in values if isinstance(value, int))
        texts = [f"{value:,}" for value in numbers]
        texts = texts or [str(value) for value in values if value is not None] or ["none"]
        more = ", …" if len(texts) > MOST_VALUES else ""
        quantity = AXES[name].many if name in AXES else name
        parts.append(f"{quantity} {', '.join(texts[:MOST_VALUES])}{more}")
    races = plural(ledgers, "race")
    return f"Not measured: no cell of {races} is within a factor of 2. Raced: {'; '.join(parts)}."

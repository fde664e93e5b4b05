"""Which cells share a table: those that differ only in the contender and one quantity.

That quantity is the axis of the table and its charts: the one with the most steps
(regatta/record/cell.py). Other quantities that vary split the cells into several tables.
"""

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from regatta.record.cell import AS_STARTED, AXES, PROCESS, TRAITS, WINDOW, Axis, Cell, choose_axis

FACTS = (*TRAITS, "scope", *AS_STARTED, "placement")
# These usually follow from something else (rounds from connections, what is asked from the
# contender), so they split cells only if two would otherwise share a row and a step.
LOOSE = ("rounds", "path", "request", "until", "requests")

SCOPE_WORDS = {WINDOW: "window only", PROCESS: "whole process"}
ENGINE_WORDS = {"epoll": "epoll client", "thread": "threads client", "fork": "fork client"}

WORDED: dict[str, Callable[[Any], str]] = {
    "engine": lambda engine: ENGINE_WORDS[engine],
    "scope": lambda scope: SCOPE_WORDS[scope],
    "linger_s": lambda seconds: f"idling {seconds:g} s" if seconds else "not idling",
    "duration_s": lambda seconds: f"duration {seconds:g} s",
    "backlog": lambda count: f"listen queue of {count}",
    "counts_taskset": lambda counts: f"taskset {'' if counts else 'not '}counted",
    "max_age_ms": lambda age: f"max age {age} ms",
    "cold": lambda requests: f"cold, the first {requests:,} requests",
}

Facts = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Members:
    """The cells of one table."""

    axis: Axis
    facts: Facts
    """Name and value of everything they share."""
    cells: list[Cell]

    @property
    def steps(self) -> list[int]:
        """The values of the axis, ascending."""
        found = {getattr(cell, self.axis.name) for cell in self.cells}
        return sorted(value for value in found if value is not None)

    def at(self, step: int) -> list[Cell]:
        return [cell for cell in self.cells if stands_at(self.axis, cell, step)]


def stands_at(axis: Axis, cell: Cell, step: int) -> bool:
    """A design without a pool is in the tables of all pool sizes, for comparison."""
    return getattr(cell, axis.name) in (step, None)


def group(cells: list[Cell]) -> list[Members]:
    """All cells, in the order of the study."""
    taken = Tally((_facts(cell, FACTS), cell.contender, _facts(cell, AXES)) for cell in cells)
    ambiguous = {key[0] for key, count in taken.items() if count > 1}
    by_facts: dict[Facts, list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.id):
        facts = _facts(cell, FACTS)
        key = _facts(cell, FACTS + LOOSE) if facts in ambiguous else facts
        by_facts.setdefault(key, []).append(cell)
    return [members for facts, together in by_facts.items() for members in _split(facts, together)]


def titles(groups: list[Members]) -> list[str]:
    """What distinguishes each group; work, load and engine if there is only one."""
    common = set.intersection(*(set(members.facts) for members in groups)) if groups else set()
    lingers = {(of["scope"], of["linger_s"]) for of in (dict(members.facts) for members in groups)}
    # How long a server idles is told only if its scope does not say it.
    implied = len({scope for scope, _ in lingers}) == len(lingers)
    return [_title(members.facts, common, "linger_s" if implied else "") for members in groups]


def _split(facts: Facts, cells: list[Cell]) -> Iterator[Members]:
    axis = choose_axis(cells)
    others = [name for name in AXES if name != axis.name]
    rows = list(dict.fromkeys(tuple(getattr(cell, name) for name in others) for cell in cells))
    for row in rows:
        if any(row != other and _covers(row, other) for other in rows):
            continue  # its cells have no pool and are in the tables of the others
        members = [
            cell for cell in cells if _covers(tuple(getattr(cell, name) for name in others), row)
        ]
        yield Members(axis, facts + _known(zip(others, row, strict=True)), members)


def _covers(row: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(mine in (theirs, None) for mine, theirs in zip(row, other, strict=True))


def _facts(cell: Cell, names: Iterable[str]) -> Facts:
    return _known((name, getattr(cell, name)) for name in names)


def _known(facts: Iterable[tuple[str, Any]]) -> Facts:
    return tuple((name, value) for name, value in facts if value is not None)


def _title(facts: Facts, common: set[tuple[str, Any]], implied: str) -> str:
    """What is not asked of a server as it is started is left out."""
    telling = [
        (name, value)
        for name, value in facts
        if (name, value) not in common or name == "cold"
        if name != implied and (value or name not in AS_STARTED)
    ]
    if not telling:
        telling = [fact for fact in facts if fact[0] in ("work", "load", "engine")]
    return ", ".join(shown(name, value) for name, value in telling)


def shown(name: str, value: Any) -> str:
    if name in AXES:
        return AXES[name].count(value)
    if name in WORDED:
        return WORDED[name](value)
    if name == "per_connection":
        each = "a new connection for each request" if value == 1 else f"{value} requests each"
        return "connections kept" if value == 0 else each
    return f"{name} {value}"

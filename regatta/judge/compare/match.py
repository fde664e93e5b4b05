"""The cells that two races have in common, and other differences between the races."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from regatta.judge.grouping import LOOSE, shown
from regatta.judge.statistics.units import sittings_of
from regatta.record.cell import IDENTITY, MATCHED, Cell
from regatta.record.records import OK, RaceRecord

# Pairs the cells of two races under a matched load by their share of the weakest one's capacity.
# Each race searches for that capacity itself, so the same share is a different rate in each race.
# The cells of the old race get the rates of the new race, so that comparisons pair them.

Load = tuple[object, ...]
"""Identifies a load: a cell without its rate and duration; a matched one without contender."""
MOST_SHOWN = 3


def align_rates(new: RaceRecord, old: RaceRecord) -> tuple[RaceRecord, str]:
    """The old race with the rates and durations of the new one, and a note; empty if no rate
    changed."""
    then, now = _durations(old), _durations(new)
    of_share = {(load, share): rate for (load, rate), share in _shares(new).items()}
    rates = {
        (load, rate): of_share[load, share]
        for (load, rate), share in _shares(old).items()
        if (load, share) in of_share
    }
    cells = []
    for cell in old.cells:
        load, lengths = _load(cell), now.get(_without_duration(cell), set())
        # `versus` chooses the length of windows by the time left. Only where a race has one length
        # of each load: else the length tells its loads apart.
        same = len(then[_without_duration(cell)]) == len(lengths) == 1
        duration_s = next(iter(lengths)) if same else cell.duration_s
        rate = cell.rate and rates.get((load, cell.rate), cell.rate)
        cells.append(replace(cell, rate=rate, duration_s=duration_s))
    changed = sorted({(was, rate) for (_, was), rate in rates.items() if was != rate})
    if not changed:
        return replace(old, cells=cells), ""
    pairs = _listed([f"{was:,} and {rate:,} requests/s" for was, rate in changed])
    note = f"Compared at the same shares of the weakest one's capacity, in OLD and NEW: {pairs}."
    return replace(old, cells=cells), note


def _shares(ledger: RaceRecord) -> dict[tuple[Load, int], float]:
    """The share that a rate of a load is; without loads to which the study adds other rates."""
    found: dict[tuple[Load, int], float] = {}
    for search in ledger.searches:
        wanted = _searched(search.cell).identity()
        cells = (cell for cell in ledger.cells if _searched(cell).identity() == wanted)
        rates = sorted(cell.rate for cell in cells if cell.rate is not None)
        if len(rates) == len(search.cell.shares):
            shares = zip(rates, sorted(search.cell.shares), strict=True)
            found |= {(_load(search.cell), rate): share for rate, share in shares}
    return found


def _load(cell: Cell) -> Load:
    return _searched(cell).comparison_key()


def _searched(cell: Cell) -> Cell:
    """The cell as it was before the race chose its rate and how long it is measured."""
    return replace(cell, load=MATCHED, rate=None, duration_s=None)


def _durations(ledger: RaceRecord) -> dict[Load, set[float | None]]:
    found: dict[Load, set[float | None]] = {}
    for cell in ledger.cells:
        found.setdefault(_without_duration(cell), set()).add(cell.duration_s)
    return found


def _without_duration(cell: Cell) -> Load:
    return replace(cell, rate=None, duration_s=None).identity()


def _listed(words: Sequence[str]) -> str:
    more = len(words) - MOST_SHOWN
    return "; ".join(words[:MOST_SHOWN]) + (f"; and {more} more" if more > 0 else "")


MACHINE = {
    "cpu_model": "CPU",
    "cpus": "CPUs",
    "architecture": "architecture",
    "virtualisation": "virtual machine",
    "kernel": "kernel",
    "distribution": "distribution",
    "smt": "SMT",
    "governor": "governor",
    "turbo": "turbo",
    "mitigations": "mitigations",
}
PLACEMENT = {
    "kind": "kind",
    "server_cpus": "CPUs of the server",
    "client_cpus": "CPUs of the client",
    "clients": "number of clients",
    "steering": "steering",
    "network": "network",
    "engine": "container engine",
    "engine_version": "its version",
}
BEFORE = {"steering": "none", "clients": 1}
"""Values of races from before these were recorded."""


@dataclass(frozen=True)
class Matched:
    pairs: list[tuple[Cell, Cell]]
    """Of the old and the new race."""
    only_old: list[Cell]
    only_new: list[Cell]


def match(old: RaceRecord, new: RaceRecord) -> Matched:
    """Pairs equal cells, in the order of the new ledger. The placement may differ."""
    theirs = {cell.identity(): cell for cell in old.cells}
    ours = {cell.identity(): cell for cell in new.cells}
    return Matched(
        pairs=[(theirs[key], cell) for key, cell in ours.items() if key in theirs],
        only_old=[cell for key, cell in theirs.items() if key not in ours],
        only_new=[cell for key, cell in ours.items() if key not in theirs],
    )


def differences(old: RaceRecord, new: RaceRecord, matched: Matched) -> list[str]:
    """One line for each difference between the races, and for each flaw of one."""
    lines = [
        _study(old, new),
        _machine(old, new),
        _placement(old, new),
        _accounts(old, new),
        _sittings(old, new),
    ]
    for name, cells in (("OLD", matched.only_old), ("NEW", matched.only_new)):
        if cells:
            labels = _listed([cell.label() for cell in cells])
            lines.append(f"Only in {name}, so not compared: {labels}.")
    lines += [_state("OLD", old), _state("NEW", new)]
    return [line for line in lines if line]


def _study(old: RaceRecord, new: RaceRecord) -> str:
    names = [ledger.meta.get("study_name", "unknown") for ledger in (old, new)]
    if names[0] != names[1]:
        return f"Different studies, {names[0]} and {names[1]}: only cells in both are compared."
    if old.meta.get("study_toml") != new.meta.get("study_toml"):
        return f"The study {names[0]} has changed: only cells in both are compared."
    return ""


def _machine(old: RaceRecord, new: RaceRecord) -> str:
    found = _changed(old.environment, new.environment, MACHINE)
    says = f"Different machines: {found}. Differences may not be due to the change."
    return says if found else ""


def _placement(old: RaceRecord, new: RaceRecord) -> str:
    then, now = _place(old), _place(new)
    found = _changed(BEFORE | then, BEFORE | now, PLACEMENT) if then and now else ""
    return f"Different placements: {found}." if found else ""


def _place(ledger: RaceRecord) -> dict[str, Any]:
    found = ledger.environment.get("placement")
    return found if isinstance(found, dict) else {}


def _changed(then: dict[str, Any], now: dict[str, Any], labels: dict[str, str]) -> str:
    """`CPU (Xeon, EPYC), kernel (6.1, 6.18)`; a table of values is only named."""
    parts = []
    for key, label in labels.items():
        values = then.get(key), now.get(key)
        if values[0] != values[1]:
            words = ", ".join(
                " ".join(map(str, value))
                if isinstance(value, list)
                else str("unknown" if value is None else value)
                for value in values
            )
            parts.append(label if dict in map(type, values) else f"{label} ({words})")
    return ", ".join(parts)


def _accounts(old: RaceRecord, new: RaceRecord) -> str:
    """Unlike the CPU clock of a process, a control group is charged for the exit of threads."""
    groups = [_place(ledger).get("control_groups") is True for ledger in (old, new)]
    then, now = ("control group" if by_group else "process clock" for by_group in groups)
    if then == now:
        return ""
    return (
        f"Server CPU was measured differently: by {then} in OLD, by {now} in NEW. "
        "Designs that create threads then differ by a few per cent."
    )


def _sittings(old: RaceRecord, new: RaceRecord) -> str:
    if max(sittings_of(old), sittings_of(new)) > 1:
        return ""
    return (
        "Each race is one sitting: the intervals do not include variation of link order, boot and "
        "hour (races with `--sittings 5` do)."
    )


def _state(name: str, ledger: RaceRecord) -> str:
    """The flaws of a race: missing, failed and disturbed trials."""
    last = ledger.last_attempts
    counts = {
        "trials failed": sum(trial.status != OK for trial in last),
        "trials had the client as their bottleneck": sum(trial.is_client_bound for trial in last),
        "trials had a client from which other programs took CPU": sum(
            trial.held_up is not None for trial in last
        ),
    }
    parts = [f"{count} {what}" for what, count in counts.items() if count]
    if len(last) < ledger.planned:
        parts.insert(0, f"{len(last)} of {ledger.planned} trials were run")
    return f"In {name} {', '.join(parts)}." if parts else ""


def cell_words(cells: Sequence[Cell]) -> dict[int, str]:
    """By cell id, what besides the contender distinguishes the cell."""
    varying = [name for name in IDENTITY if len({getattr(cell, name) for cell in cells}) > 1]
    wanted = [name for name in varying if name not in ("contender", *LOOSE)]
    distinct = {(cell.contender, *(getattr(cell, name) for name in wanted)) for cell in cells}
    if len(distinct) < len(cells):
        wanted = [name for name in varying if name != "contender"]
    wanted = wanted or ["connections"]
    return {
        cell.id: ", ".join(
            f"no {name}" if (value := getattr(cell, name)) is None else shown(name, value)
            for name in wanted
        )
        for cell in cells
    }

"""What past races of this machine say about a load: `regatta report --near`.

Near is within a factor of 2 in each number that was asked for. Nothing is extrapolated or worked
out anew: verdicts and figures are those of the race's own report, of the steps that are near.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from regatta.errors import LedgerError, UsageError
from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis, Group
from regatta.record.cell import Cell
from regatta.record.read import read, read_outline
from regatta.record.schema import FILE_NAME
from regatta.show.json_summary import group_json
from regatta.show.numbers import plural
from regatta.show.standings import overview
from regatta.show.terminal import overviews
from regatta.show.text import put
from regatta.show.verdicts import verdict_sentence

NUMBERS = ("connections", "rate", "idle")
WORDS = ("work", "load", "dialect")
MOST_DOUBLINGS = 1 + 1e-9
SAME_MACHINE = ("cpu_model", "cpus", "architecture")
Asked = dict[str, int | str]


@dataclass(frozen=True)
class NearGroup:
    """The steps of a group that are near, with the verdict and the figures of each."""

    folder: Path
    analysis: Analysis
    """Of this group alone."""
    distance: float
    """0: exactly what was asked; plus 1 for each number that is off by a factor of 2."""
    load: str

    @property
    def group(self) -> Group:
        return self.analysis.groups[0]


def parse_near(text: str) -> Asked:
    """`connections=1000,rate=5000,work=snapshot`; what is not named may be anything."""
    asked: Asked = {}
    for part in text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        is_number = name in NUMBERS and value.isdecimal() and len(value) < 12
        if not (is_number or (name in WORDS and value)):
            raise UsageError(
                f"--near has `{part}`; write connections=1000,rate=5000: {', '.join(NUMBERS)} "
                f"take a whole number, {', '.join(WORDS)} a word"
            )
        asked[name] = int(value) if is_number else value
    return asked


def distance(asked: Asked, cell: Cell) -> float:
    """Infinite if it is far."""
    total = 0.0
    for name, wanted in asked.items():
        raced = getattr(cell, name)
        if raced == wanted:
            continue
        if isinstance(wanted, str) or not wanted or not raced:
            return math.inf
        doublings = abs(math.log2(raced / wanted))
        total += doublings if doublings <= MOST_DOUBLINGS else math.inf
    return total


def near(asked: Asked, races: Path, machine: dict[str, Any]) -> tuple[list[NearGroup], list[str]]:
    """The nearest first, of the newest race of each study; and notes on what was not searched."""
    newest: dict[object, tuple[float, Path]] = {}
    notes: list[str] = []
    others = 0
    for path in sorted(races.glob(f"*/{FILE_NAME}")):
        try:
            race = read_outline(path)
        except LedgerError as error:
            notes.append(f"Not read: {error}.")
            continue
        is_near = any(distance(asked, cell) < math.inf for cell in race.cells)
        if any(race.environment.get(name) != machine[name] for name in SAME_MACHINE):
            others += 1
        elif is_near and "finished_at" in race.meta:
            created = float(race.meta.get("created_at") or 0)
            # Races of `versus` have one name and different contenders.
            key = race.meta.get("study_name"), frozenset(cell.contender for cell in race.cells)
            newest[key] = max(newest.get(key, (-1.0, path)), (created, path))
    if others:
        notes.append(f"{plural(others, 'race')} of other machines left out.")
    found: list[NearGroup] = []
    for _, path in sorted(newest.values(), reverse=True):
        try:
            found += _near_groups(asked, path.parent, analyse(read(path)))
        except LedgerError as error:
            notes.append(f"Not read: {path}: {error}.")
    return sorted(found, key=lambda group: group.distance), notes


def _near_groups(asked: Asked, folder: Path, analysis: Analysis) -> Iterator[NearGroup]:
    for group in analysis.groups:
        far = {
            step: min(distance(asked, result.cell) for result in group.at(step))
            for step in group.steps
        }
        steps = [step for step in group.steps if far[step] < math.inf]
        if steps:
            by_step = [verdict for verdict in group.by_step if verdict.at in steps]
            ids = {result.cell.id for step in steps for result in group.at(step)}
            cells = [result for result in group.cells if result.cell.id in ids]
            narrowed = replace(group, steps=steps, by_step=by_step, cells=cells)
            load = replace(cells[0].cell, workers=None).label().partition(" · ")[2]
            of_it = replace(analysis, groups=[narrowed])
            yield NearGroup(folder, of_it, min(far[step] for step in steps), load)


def print_near(
    found: Sequence[NearGroup], notes: Sequence[str], races: Path, console: Console
) -> None:
    for near_by in found:
        group, analysis = near_by.group, near_by.analysis
        how = "" if near_by.distance else ", exactly this"
        created = time.localtime(float(analysis.meta.get("created_at") or 0))
        day = time.strftime("%Y-%m-%d", created)
        put(console, f"{near_by.folder}, {day}: {near_by.load}{how}", style="bold")
        put(console, *(verdict_sentence(group, verdict) for verdict in group.by_step))
        table = overview(analysis, group)
        put(console, table.says, style="dim")
        for lines in overviews([table], analysis.contenders, console):
            console.print(*lines, sep="\n", soft_wrap=True)
        console.print()
    if not found:
        none = f"No finished race of this machine in {races} is within a factor of 2 of that load."
        put(console, none, style="yellow")
    put(console, *notes, style="yellow")


def near_json(found: Sequence[NearGroup], notes: Sequence[str]) -> dict[str, Any]:
    plain_groups = [
        {
            "race": str(near_by.folder),
            "created_at": near_by.analysis.meta.get("created_at"),
            "load": near_by.load,
            "distance": near_by.distance,
            **{name: group[name] for name in ("axis", "by_step", "cells")},
        }
        for near_by in found
        for group in [group_json(near_by.analysis, near_by.group)]
    ]
    return {"near": plain_groups, "notes": list(notes)}

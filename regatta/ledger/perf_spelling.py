"""perf's names of events, taken apart: those of counters in a ledger too."""

import re
from dataclasses import dataclass
from functools import cache

from regatta.ledger.counters import COUNTERS

PERF_NAMES = {one.name: one.perf for one in COUNTERS if one.perf not in ("", one.name)}


@dataclass(frozen=True)
class Event:
    """perf's name of an event, taken apart: `cpu_core/cycles/u` is cycles, of cpu_core, user."""

    name: str
    pmu: str | None
    user_only: bool


@cache  # a race has a dozen names and a hundred thousand counters
def parse_event_name(text: str) -> Event:
    """The parts of a name as perf prints it. A name of another shape is its own name."""
    for perf_name in PERF_NAMES.values():  # a tracepoint has a colon that begins no modifier
        if text.startswith(perf_name):
            return Event(perf_name, None, "u" in text.removeprefix(perf_name))
    bare, colon, modifiers = text.partition(":")
    if "/" not in text:
        if colon and re.fullmatch(r"[ukhGHpP]+", modifiers):
            return Event(bare, None, "u" in modifiers and "k" not in modifiers)
        return Event(text, None, False)
    pmu, _, rest = text.partition("/")
    name, _, modifiers = rest.partition("/")
    name, _, inner = name.partition(":")
    modifiers += inner
    return Event(name, pmu, "u" in modifiers and "k" not in modifiers)

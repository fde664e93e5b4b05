"""Parses perf's names of events, also those of counters in a ledger."""

import re
from dataclasses import dataclass
from functools import cache

from regatta.ledger.counters import COUNTERS

PERF_NAMES = {one.name: one.perf for one in COUNTERS if one.perf not in ("", one.name)}


@dataclass(frozen=True)
class Event:
    """A parsed event name: `cpu_core/cycles/u` is cycles, of cpu_core, in user space only."""

    name: str
    pmu: str | None
    user_only: bool


@cache  # a race has a dozen names and a hundred thousand counters
def parse_event_name(text: str) -> Event:
    """A name in an unknown format is returned whole."""
    for perf_name in PERF_NAMES.values():  # the colon of a tracepoint does not start a modifier
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

"""The names of events and metrics, and their units, as perf prints them and people write them."""

import re
from dataclasses import dataclass

from regatta.ledger.counters import COUNT, COUNTERS, NS, PERCENT
from regatta.ledger.event_names import parse_event_name
from regatta.machine.perf.output import METRIC_PATTERN

TASK_CLOCK, CPU_CLOCK, ELAPSED, USER, SYSTEM = (
    "task_clock",
    "cpu_clock",
    "elapsed",
    "user",
    "system",
)
CYCLES, INSTRUCTIONS, BRANCHES, BRANCH_MISSES = (
    "cycles",
    "instructions",
    "branches",
    "branch_misses",
)
GHZ, IPC, CPUS = "ghz", "instructions_per_cycle", "cpus_utilized"
PER_S = "_per_s"
MISTAKEN_RATE = "_mistaken_rate"
"""Suffix of the name of a figure that should be a count but is a rate."""

COUNTS = frozenset(one.claimed_as for one in COUNTERS if one.unit == COUNT)
TOPDOWN = tuple(one.claimed_as for one in COUNTERS if one.unit == PERCENT)
EVENTS = {one.perf: one.claimed_as for one in COUNTERS if one.perf}
"""By perf's names."""
CLOCKS = frozenset(one.claimed_as for one in COUNTERS if one.perf and one.unit == NS)
SOFTWARE = CLOCKS | {"context_switches", "cpu_migrations", "page_faults", "syscalls"}
"""Counted by the kernel, so not per kind of core."""

SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "msecs", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "µs", "usec"), 1e-6),
    **dict.fromkeys(("ns", "nsec"), 1e-9),
}
SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}


@dataclass(frozen=True)
class Quantity:
    """What a number measures: its name, the scale of its unit, and the unit as printed."""

    name: str
    scale: float = 1.0
    unit: str = ""

    @property
    def is_count(self) -> bool:
        return self.name in COUNTS

    @property
    def is_rate(self) -> bool:
        return self.name.endswith(PER_S)


def rate_of(event: str) -> str:
    return f"{event}{PER_S}"


def share_of(event: str) -> str:
    return f"{event}_percent"


# What perf prints after `#`, and people write as a column heading.
METRICS = {
    "GHz": Quantity(GHZ, 1, "GHz"),
    "CPUs utilized": Quantity(CPUS, 1, "CPUs utilized"),
    "insn per cycle": Quantity(IPC, 1, "insn per cycle"),
    "of all branches": Quantity(share_of(BRANCH_MISSES), 1, "%"),
    "of all cache refs": Quantity(share_of("cache_misses"), 1, "%"),
    "frontend cycles idle": Quantity(share_of("stalled_cycles_frontend"), 1, "%"),
    "backend cycles idle": Quantity(share_of("stalled_cycles_backend"), 1, "%"),
}
PRINTED_WITH = {"GHz": CYCLES, "CPUs utilized": TASK_CLOCK}
"""These two belong to one event only; perf prints the second one next to cpu-clock too."""


@dataclass(frozen=True)
class Event:
    """An event of perf: what it counts, on which kind of core, and whether only in user space."""

    name: str
    core: str
    user_only: bool
    known: bool


def event_of(text: str) -> Event:
    parts = parse_event_name(text)
    name = EVENTS.get(parts.name)
    return Event(name or text, parts.pmu or "", parts.user_only, name is not None)


def metric_of(unit: str, event: str) -> Quantity | None:
    """What perf printed after `#` in the line of this event; None if it is not checked."""
    unit = " ".join(unit.split())
    if rate := re.fullmatch(r"([KMG]?)/sec", unit):
        return Quantity(rate_of(event), SCALES[rate[1].lower()], unit) if event in COUNTS else None
    if part := METRIC_PATTERN.fullmatch(unit):
        return Quantity(f"tma_{part['name'].lower()}", 1 if part["percent"] else 100, "%")
    name = unit.removeprefix("%").strip()
    if PRINTED_WITH.get(name, event) != event:
        return None
    return METRICS.get(name)


OTHER_NAMES = {
    **dict.fromkeys(("insn", "insns", "instruction"), INSTRUCTIONS),
    **dict.fromkeys(("branch_miss", "branchmisses"), BRANCH_MISSES),
    **dict.fromkeys(("cache_miss",), "cache_misses"),
    **dict.fromkeys(("cpu_cycles",), CYCLES),
    **dict.fromkeys(("faults", "pagefaults"), "page_faults"),
    **dict.fromkeys(("migrations",), "cpu_migrations"),
    **dict.fromkeys(("cs", "switches"), "context_switches"),
    **dict.fromkeys(("time_elapsed", "elapsed_time", "wall", "wall_time", "real"), ELAPSED),
    **dict.fromkeys(("user_time",), USER),
    **dict.fromkeys(("sys", "system_time", "sys_time"), SYSTEM),
    **dict.fromkeys(("taskclock", "cpu_time"), TASK_CLOCK),
    **dict.fromkeys(("ipc", "insn_per_cycle"), IPC),
    **dict.fromkeys(("cpus", "cpu_utilized"), CPUS),
}
"""Column headings that people write, with underscores and without a unit."""
USUAL_UNITS = {TASK_CLOCK: "ms", CPU_CLOCK: "ms", ELAPSED: "s", USER: "s", SYSTEM: "s"}
"""Units of times under perf's own names that give none: as perf prints them."""
PLAIN = {one.name: one for one in (METRICS["insn per cycle"], METRICS["CPUs utilized"])}
SHARES = {one.name for one in METRICS.values() if one.unit == "%"}
RATE = re.compile(r"(.+?)_?(?:(?<=_)([kmg]))?(?:/|_per_)(?:s|sec|second)")
SHARE = re.compile(r"(.+?)_?(?:%|percent|pct|percentage|rate)")


def heading_of(text: str) -> Quantity | None:
    """The quantity in a column with this heading; None if it is not checked."""
    words = re.sub(r"[^a-z0-9%/µ]+", "_", text.lower()).strip("_")
    words = re.sub(r"_*/_*", "/", words)
    return _rate(words) or _share(words) or _time(words) or _plain(words)


def _known(words: str) -> str:
    return OTHER_NAMES.get(words, words)


def _rate(words: str) -> Quantity | None:
    matched = RATE.fullmatch(words)
    event = _known(matched[1]) if matched else ""
    if matched is None or event not in COUNTS:
        return None
    letter = matched[2] or ""
    return Quantity(rate_of(event), SCALES[letter], f"{letter.upper()}/sec")


def _share(words: str) -> Quantity | None:
    matched = SHARE.fullmatch(words)
    name = _known(matched[1]) if matched else words
    for found in (name, f"tma_{name}"):
        if found in TOPDOWN:
            return Quantity(found, 1, "%")
    if matched is not None and share_of(name) in SHARES:
        return Quantity(share_of(name), 1, "%")
    return None


def _time(words: str) -> Quantity | None:
    name, _, unit = words.rpartition("_")
    if unit in SECONDS and _known(name) in USUAL_UNITS:
        return Quantity(_known(name), SECONDS[unit], unit)
    usual = USUAL_UNITS.get(words)
    return Quantity(words, SECONDS[usual], usual) if usual else None


def _plain(words: str) -> Quantity | None:
    if words == "ghz" or words.endswith("_ghz"):
        return METRICS["GHz"]
    name = _known(words)
    return PLAIN.get(name) or (Quantity(name) if name in COUNTS else None)

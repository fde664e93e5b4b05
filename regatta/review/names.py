"""The names of events and metrics, and their units, as perf prints them and people write them."""

import re
from dataclasses import dataclass

from regatta.ledger.counters import COUNT, COUNTERS, NS, PERCENT
from regatta.ledger.event_names import parse_event_name
from regatta.machine.perf.output import METRIC_PATTERN

TASK_CLOCK, CPU_CLOCK, ELAPSED, USER, SYSTEM = (
    *("task_clock", "cpu_clock", "elapsed", "user", "system"),
)
CYCLES, INSTRUCTIONS, BRANCHES, BRANCH_MISSES = (
    *("cycles", "instructions", "branches", "branch_misses"),
)
GHZ, IPC, CPUS = "ghz", "instructions_per_cycle", "cpus_utilized"
CPU_CLOCK_CPUS = "cpus_utilized_by_cpu_clock"
PER_S = "_per_s"
MISTAKEN_RATE = "_mistaken_rate"
"""Suffix of the name of a figure that should be a count but is a rate."""
# What load generators report.
REQUESTS, RATE, ANSWERS, CLIENTS = "requests", "requests_per_s", "answers", "clients"
LATENCY, MEAN, MIN, MAX, STDEV = (
    *("latency_", "latency_mean", "latency_min", "latency_max", "latency_stdev"),
)
BYTES, BYTES_PER_S, SIZE = "bytes", "bytes_per_s", "bytes_per_answer"
ERRORS, SOCKET_ERRORS, UNCONNECTED = "errors", "socket_errors", "connect_errors"

COUNTS = frozenset(one.claimed_as for one in COUNTERS if one.unit == COUNT)
TOPDOWN = tuple(one.claimed_as for one in COUNTERS if one.unit == PERCENT)
EVENTS = {one.perf: one.claimed_as for one in COUNTERS if one.perf} | {"cpu-cycles": CYCLES}
"""By perf's names; the last is that of perf 6.19 and later."""
CLOCKS = frozenset(one.claimed_as for one in COUNTERS if one.perf and one.unit == NS)
SOFTWARE = CLOCKS | {"context_switches", "cpu_migrations", "page_faults", "syscalls"}
"""Counted by the kernel, so not per kind of core."""

SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "msecs", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "µs", "μs", "usec"), 1e-6),
    **dict.fromkeys(("ns", "nsec"), 1e-9),
}
SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}


@dataclass(frozen=True)
class Quantity:
    """What a number measures: its name, the scale of its unit, and the unit as printed."""

    name: str
    scale: float = 1.0
    unit: str = ""
    by_group: bool = False

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


IDLE_FRONT, IDLE_BACK = share_of("stalled_cycles_frontend"), share_of("stalled_cycles_backend")
# What perf prints after `#`, and people write as a column heading.
METRICS = {
    "GHz": Quantity(GHZ, 1, "GHz"),
    "CPUs utilized": Quantity(CPUS, 1, "CPUs utilized"),
    "insn per cycle": Quantity(IPC, 1, "insn per cycle"),
    "of all branches": Quantity(share_of(BRANCH_MISSES), 1, "%"),
    "of all cache refs": Quantity(share_of("cache_misses"), 1, "%"),
    "frontend cycles idle": Quantity(IDLE_FRONT, 1, "%"),
    "backend cycles idle": Quantity(IDLE_BACK, 1, "%"),
}
# perf 6.19 and later, with its unit before each name. It computes each metric from the counts of
# the metric's own group of counters, and prints the counts of one group only.
NEW_METRICS = {
    "CPUs CPUs_utilized": Quantity(CPUS, 1, "CPUs utilized", True),
    "GHz cycles_frequency": Quantity(GHZ, 1, "GHz", True),
    "instructions insn_per_cycle": Quantity(IPC, 1, "insn per cycle", True),
    "% branch_miss_rate": Quantity(share_of(BRANCH_MISSES), 1, "%", True),
    "M/sec branch_frequency": Quantity(rate_of(BRANCHES), 1e6, "M/sec", True),
    "cs/sec cs_per_second": Quantity(rate_of("context_switches"), 1, "/sec", True),
    "migrations/sec migrations_per_second": Quantity(rate_of("cpu_migrations"), 1, "/sec", True),
    "faults/sec page_faults_per_second": Quantity(rate_of("page_faults"), 1, "/sec", True),
    "frontend_cycles_idle": Quantity(IDLE_FRONT, 100, "of cycles", True),
    "backend_cycles_idle": Quantity(IDLE_BACK, 100, "of cycles", True),
}
PRINTED_WITH = {GHZ: CYCLES, CPUS: TASK_CLOCK}
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
    found = METRICS.get(unit.removeprefix("%").strip()) or NEW_METRICS.get(unit)
    if found and found.name == CPUS and event == CPU_CLOCK:
        return Quantity(CPU_CLOCK_CPUS, 1, found.unit, found.by_group)
    return None if found and PRINTED_WITH.get(found.name, event) != event else found


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
RATE_HEADING = re.compile(r"(.+?)_?(?:(?<=_)([kmg]))?(?:/|_per_)(?:s|sec|second)")
SHARE_HEADING = re.compile(r"(.+?)_?(?:%|percent|pct|percentage|rate)")
# Columns of tables that compare servers under load.
LOAD_RATE = re.compile(r"(?:(?:avg|mean)_)?(?:rps|qps|req(?:uest)?s?(?:/|_per_)s(?:ec(?:ond)?)?)")
LOAD_ERRORS = frozenset(
    *(("errors", "failed", "failures", "failed_requests", "non_2xx", "socket_errors", "timeouts"),)
)
STATISTICS = {"avg": MEAN, "average": MEAN, "mean": MEAN, "min": MIN, "max": MAX, "stdev": STDEV}
STATISTICS |= {"median": f"{LATENCY}p50", "med": f"{LATENCY}p50"}
WORD = r"(?:latency|lat|response_time)"
LOAD_LATENCY = re.compile(
    rf"(?P<before>{WORD}_)?(?:(?P<word>{'|'.join(STATISTICS)})|p_?(?P<percent>\d\d)[._]?(?P<more>9*)"
    rf"|(?P<th>\d\d)(?:th|%)(?:_percentile)?)(?P<after>_{WORD})?(?:_(?P<unit>s|ms|us|µs|ns))?"
)


def heading_of(text: str) -> Quantity | None:
    """The quantity in a column with this heading; None if it is not checked."""
    words = re.sub(r"[^a-z0-9%/µ]+", "_", text.lower()).strip("_")
    words = re.sub(r"_*/_*", "/", words)
    return _load(words) or _rate(words) or _share(words) or _time(words) or _plain(words)


def _load(words: str) -> Quantity | None:
    if LOAD_RATE.fullmatch(words):
        return Quantity(RATE, 1, "/s")
    if words in LOAD_ERRORS:
        return Quantity(ERRORS)
    found = LOAD_LATENCY.fullmatch(words)
    # `mean`, alone, may be that of anything.
    if not found or (found["word"] and not (found["before"] or found["after"] or found["unit"])):
        return None
    name = STATISTICS.get(found["word"] or "") or percentile(
        f"{found['percent'] or found['th']}.{found['more'] or ''}"
    )
    return Quantity(name, SECONDS.get(found["unit"] or "", 1.0), found["unit"] or "")


def percentile(text: str) -> str:
    """`99.900` is latency_p99.9."""
    return f"{LATENCY}p{float(text):g}"


def _known(words: str) -> str:
    return OTHER_NAMES.get(words, words)


def _rate(words: str) -> Quantity | None:
    matched = RATE_HEADING.fullmatch(words)
    event = _known(matched[1]) if matched else ""
    if matched is None or event not in COUNTS:
        return None
    letter = matched[2] or ""
    return Quantity(rate_of(event), SCALES[letter], f"{letter.upper()}/sec")


def _share(words: str) -> Quantity | None:
    matched = SHARE_HEADING.fullmatch(words)
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


NO_UNIT = frozenset(("", "-", "–", "—", "count", "counts", "events", "number", "#"))


def in_unit(quantity: Quantity | None, unit: str) -> Quantity | None:
    """With the unit of the cell, if it has one; None if the quantity has no such unit."""
    if quantity is None or unit in ("", quantity.unit) or METRICS.get(unit) == quantity:
        return quantity
    letter, slash, _ = unit.lower().partition("/")
    if quantity.unit in SECONDS or quantity.name.startswith(LATENCY):
        return Quantity(quantity.name, SECONDS[unit], unit) if unit in SECONDS else None
    if quantity.is_count and slash:
        return mistaken(quantity.name, unit)
    if quantity.name == RATE and unit.lower() in ("req/s", "rps", "/s", "req/sec", "requests/sec"):
        return quantity
    if letter in SCALES and (quantity.is_count or quantity.name == RATE or quantity.is_rate):
        return Quantity(quantity.name, SCALES[letter], unit)
    return None


def in_column_unit(quantity: Quantity, unit: str) -> Quantity | None:
    """With the unit that the row names; None if a row with that unit is not checked.

    `branches` with the unit `M/sec` is a rate, and is named so.
    """
    unit = unit.strip("()[] ")
    if unit.lower() in NO_UNIT:
        return quantity
    if quantity.is_count:
        named = heading_of(f"{quantity.name} {unit}")
        return named if named or "/" in unit else in_unit(quantity, unit)
    return in_unit(quantity, unit) or in_unit(quantity, unit.lower())


def mistaken(name: str, unit: str = "") -> Quantity:
    return Quantity(f"{name}{MISTAKEN_RATE}", 1, unit)

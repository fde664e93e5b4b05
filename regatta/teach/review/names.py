"""The names of events and metrics, and their units, as perf prints them and people write them."""

import re
from dataclasses import dataclass

from regatta.record.counters import COUNT, COUNTERS, NS, PERCENT
from regatta.record.perf_output import METRIC_PATTERN

TASK_CLOCK, ELAPSED, USER, SYSTEM = "task_clock", "elapsed", "user", "system"
USUAL_TIMES = (TASK_CLOCK, "cpu_clock", ELAPSED, USER, SYSTEM)
CYCLES, INSTRUCTIONS = "cycles", "instructions"
COUNTS = frozenset(kind.claimed_as for kind in COUNTERS if kind.unit == COUNT)
TOPDOWN = tuple(kind.claimed_as for kind in COUNTERS if kind.unit == PERCENT)
EVENTS = {kind.perf: kind.claimed_as for kind in COUNTERS if kind.perf} | {"cpu-cycles": CYCLES}
"""By perf's names; the last is that of perf 6.19 and later."""
CLOCKS = frozenset(kind.claimed_as for kind in COUNTERS if kind.perf and kind.unit == NS)
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


METRICS = {
    "GHz": Quantity("ghz", 1, "GHz"),
    "CPUs utilized": Quantity("cpus_utilized", 1, "CPUs utilized"),
    "insn per cycle": Quantity("instructions_per_cycle", 1, "insn per cycle"),
    "of all branches": Quantity("branch_misses_percent", 1, "%"),
    "of all cache refs": Quantity("cache_misses_percent", 1, "%"),
    "frontend cycles idle": Quantity("stalled_cycles_frontend_percent", 1, "%"),
    "backend cycles idle": Quantity("stalled_cycles_backend_percent", 1, "%"),
}
"""What perf prints after `#`."""
NEW_METRICS = {
    "CPUs CPUs_utilized": Quantity("cpus_utilized", 1, "CPUs utilized", True),
    "GHz cycles_frequency": Quantity("ghz", 1, "GHz", True),
    "instructions insn_per_cycle": Quantity("instructions_per_cycle", 1, "insn per cycle", True),
    "% branch_miss_rate": Quantity("branch_misses_percent", 1, "%", True),
    "M/sec branch_frequency": Quantity("branches_per_s", 1e6, "M/sec", True),
    "cs/sec cs_per_second": Quantity("context_switches_per_s", 1, "/sec", True),
    "migrations/sec migrations_per_second": Quantity("cpu_migrations_per_s", 1, "/sec", True),
    "faults/sec page_faults_per_second": Quantity("page_faults_per_s", 1, "/sec", True),
    "frontend_cycles_idle": Quantity("stalled_cycles_frontend_percent", 100, "of cycles", True),
    "backend_cycles_idle": Quantity("stalled_cycles_backend_percent", 100, "of cycles", True),
}
"""perf 6.19 and later, with its unit before each name. It computes each metric from the counts of
the metric's own group of counters, and prints the counts of one group only."""
OWNERS = {"ghz": CYCLES, "cpus_utilized": TASK_CLOCK}


def metric_of(unit: str, event: str) -> Quantity | None:
    """What perf printed after `#` in the line of this event; None if it is not checked."""
    unit = " ".join(unit.split())
    if rate := re.fullmatch(r"([KMG]?)/sec", unit):
        scale = SCALES[rate[1].lower()]
        return Quantity(f"{event}_per_s", scale, unit) if event in COUNTS else None
    if part := METRIC_PATTERN.fullmatch(unit):
        return Quantity(f"tma_{part['name'].lower()}", 1 if part["percent"] else 100, "%")
    found = METRICS.get(unit.removeprefix("%").strip()) or NEW_METRICS.get(unit)
    return found if found and OWNERS.get(found.name, event) == event else None


OTHER_NAMES = {
    other: name
    for name, others in {
        INSTRUCTIONS: "insn insns instruction",
        "branch_misses": "branch_miss branchmisses",
        "cache_misses": "cache_miss",
        CYCLES: "cpu_cycles",
        "page_faults": "faults pagefaults",
        "cpu_migrations": "migrations",
        "context_switches": "cs switches",
        ELAPSED: "time_elapsed elapsed_time wall wall_time real",
        USER: "user_time",
        SYSTEM: "sys system_time sys_time",
        TASK_CLOCK: "taskclock cpu_time",
        "instructions_per_cycle": "ipc insn_per_cycle",
        "cpus_utilized": "cpus cpu_utilized",
        "mean": "avg average",
        "p50": "median med",
    }.items()
    for other in others.split()
}
"""Column headings that people write, with underscores and without a unit."""
BY_NAME = {metric.name: metric for metric in METRICS.values()}
LATENCY = re.compile(r"mean|min|max|stdev|p\d{1,3}(\.\d+)?")
# Columns of tables that compare servers under load.
LOAD_RATE = re.compile(r"(?:(?:avg|mean)_)?(?:rps|qps|req(?:uest)?s?(?:/|_per_)s(?:ec(?:ond)?)?)")
LOAD_ERRORS = (
    *("errors", "failed", "failures", "failed_requests", "non_2xx", "socket_errors", "timeouts"),
)
OF_LATENCY = "latency|lat|response_time"
LATENCY_HEADING = re.compile(
    rf"(?P<about>(?:{OF_LATENCY})_)?(?:(?P<word>avg|average|mean|min|max|stdev|median|med)|"
    r"p_?(?P<percent>\d\d)[._]?(?P<more>9*)|(?P<th>\d\d)(?:th|%)(?:_percentile)?)"
    rf"(?P<of>_(?:{OF_LATENCY}))?(?:_(?P<unit>s|ms|us|µs|ns))?"
)
HEADING = re.compile(
    r"(?P<name>.+?)(?:_?(?P<letter>(?<=_)[kmg])?(?P<rate>/|_per_)(?:s|sec|second)|"
    rf"_?(?P<share>%|percent|pct|percentage|rate)|_(?P<time>{'|'.join(SECONDS)}))?"
)
"""A name, and perhaps a unit."""


def heading_of(text: str) -> Quantity | None:
    """The quantity in a column with this heading; None if it is not checked."""
    words = re.sub(r"[^a-z0-9%/µ]+", "_", text.lower()).strip("_")
    words = re.sub(r"_*/_*", "/", words)
    if LOAD_RATE.fullmatch(words):
        return Quantity("rate", 1, "/s")
    if words in LOAD_ERRORS:
        return Quantity("errors")
    if words in USUAL_TIMES:  # without a unit: as perf prints it
        unit = "ms" if words.endswith("clock") else "s"
        return Quantity(words, SECONDS[unit], unit)
    if (found := LATENCY_HEADING.fullmatch(words)) and (
        # `mean`, alone, may be that of anything.
        not found["word"] or found["about"] or found["of"] or found["unit"]
    ):
        share = f"{found['percent'] or found['th']}.{found['more'] or ''}"
        name = OTHER_NAMES.get(found["word"], found["word"]) if found["word"] else percentile(share)
        return Quantity(name, SECONDS.get(found["unit"], 1.0), found["unit"] or "")
    if words == "ghz" or words.endswith("_ghz"):
        return METRICS["GHz"]
    return _counted(words)


def _counted(words: str) -> Quantity | None:
    """A counter, a time or a share that perf prints, with a unit or without."""
    found = HEADING.fullmatch(words)
    if found is None:
        return None
    name, time = OTHER_NAMES.get(found["name"], found["name"]), found["time"]
    if found["rate"]:
        letter = found["letter"] or ""
        unit = f"{letter.upper()}/sec"
        return Quantity(f"{name}_per_s", SCALES[letter], unit) if name in COUNTS else None
    if time:
        return Quantity(name, SECONDS[time], time) if name in USUAL_TIMES else None
    if slots := next((share for share in (name, f"tma_{name}") if share in TOPDOWN), ""):
        return Quantity(slots, 1, "%")
    if found["share"]:
        return BY_NAME.get(f"{name}_percent")
    return BY_NAME.get(name) or (Quantity(name) if name in COUNTS else None)


def percentile(text: str) -> str:
    """`99.900` is p99.9."""
    return "max" if float(text) == 100 else f"p{float(text):g}"


def in_unit(quantity: Quantity, unit: str) -> Quantity | None:
    """With the unit of the cell, if it has one; None if the quantity has no such unit."""
    if unit in ("", quantity.unit) or METRICS.get(unit) == quantity:
        return quantity
    letter, slash, _ = unit.lower().partition("/")
    if quantity.unit in SECONDS or LATENCY.fullmatch(quantity.name):
        return Quantity(quantity.name, SECONDS[unit], unit) if unit in SECONDS else None
    is_rate = quantity.name == "rate"
    letter = "" if is_rate and letter in ("req", "requests", "rps") else letter
    if letter in SCALES and (
        (quantity.is_count and not slash) or is_rate or (slash and "_per_s" in quantity.name)
    ):
        return Quantity(quantity.name, SCALES[letter], unit)
    return None

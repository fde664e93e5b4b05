"""Parses perf's JSON lines into counters.

The lines differ with perf's version, the CPU and the user's privileges; only this file knows that.
"""

import json
import math
import re
from collections.abc import Sequence

from regatta.errors import CounterError
from regatta.record.counters import (
    COUNTED,
    COUNTERS,
    NOT_COUNTED,
    NS,
    PERCENT,
    PERF_NAMES,
    TOPDOWN,
    Counter,
    not_supported,
    parse_event_name,
)

TOPDOWN_METRICS = tuple(kind.name for kind in COUNTERS if kind.unit == PERCENT)
CLOCKS = tuple(kind.name for kind in COUNTERS if kind.perf and kind.unit == NS)
KERNEL_ONLY = tuple(kind.name for kind in COUNTERS if kind.kernel_only)

NS_PER_UNIT = {"msec": 1_000_000, "usec": 1_000, "nsec": 1, "ns": 1}

METRIC_PATTERN = re.compile(
    r"(?P<percent>%)?\s*(?:tma_)?(?P<name>retiring|bad_speculation|frontend_bound|backend_bound)"
    r"(?::[ukh]+)?",
    re.IGNORECASE,
)
GROUP_PATTERN = re.compile(r".*\((?P<pmu>\w+)\)")


def number(key: str, value: object) -> float:
    """A finite number, whether perf printed it as a number or as text."""
    try:
        plain = float(str(value).strip())
    except ValueError as error:
        raise CounterError(f"perf printed no number for `{key}`") from error
    if not math.isfinite(plain):
        raise CounterError(f"perf printed no finite number for `{key}`")
    return plain


def text_of(fields: dict[str, object], key: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise CounterError(f"perf printed no text for `{key}`")
    return value


def read_event(fields: dict[str, object], running: float | None) -> Counter:
    """The counter that one line holds, under perf's own name."""
    event = text_of(fields, "event")
    raw = fields["counter-value"]
    unit_text = text_of(fields, "unit")
    unit = "ns" if unit_text in NS_PER_UNIT else unit_text or "count"
    if raw == "<not supported>":
        return not_supported(event, unit)
    if raw == "<not counted>" or running == 0:
        return Counter(event, None, unit, None, NOT_COUNTED)
    value = number("counter-value", raw)
    if value < 0:
        raise CounterError("perf printed a count below 0")
    value = round(value * NS_PER_UNIT[unit_text]) if unit == "ns" else value
    return Counter(event, float(value), unit, running, COUNTED)


def read_metric(fields: dict[str, object], running: float | None) -> Counter | None:
    """The top-down metric at the end of the line, if there is one."""
    match = METRIC_PATTERN.fullmatch(text_of(fields, "metric-unit").strip())
    if match is None:
        return None
    event = f"tma_{match['name'].lower()}"
    raw = fields.get("metric-value")
    # A metric whose events never ran is printed as nan, none, or nothing.
    if raw is None or str(raw).strip().lower() in ("", "nan", "-nan", "none", "inf", "-inf"):
        return Counter(event, None, "%", None, NOT_COUNTED)
    value = number("metric-value", raw)
    return Counter(event, value if match["percent"] else value * 100, "%", running, COUNTED)


class PerfOutput:
    def __init__(self) -> None:
        self.events: list[Counter] = []
        self.metrics: list[tuple[str | None, Counter]] = []
        """Each with its kind of core, if perf names it."""
        self.running: float | None = None
        self.pmu: str | None = None
        """Of the last line: metrics with a line of their own belong to it."""

    def take(self, line: str) -> None:
        # perf 6.13 and some others leave a comma before the closing brace.
        try:
            fields: dict[str, object] = json.loads(re.sub(r",\s*\}$", "}", line))
        except (ValueError, RecursionError) as error:
            raise CounterError("perf printed a line that is not JSON") from error
        if "pcnt-running" in fields:
            self.running = number("pcnt-running", fields["pcnt-running"])
            if not 0 <= self.running <= 100:
                raise CounterError("perf printed a percentage outside 0 to 100")
        if "metricgroup" in fields:
            group = GROUP_PATTERN.fullmatch(text_of(fields, "metricgroup"))
            self.pmu = group["pmu"] if group else None
        if "counter-value" in fields:
            self.events.append(read_event(fields, self.running))
            self.pmu = parse_event_name(self.events[-1].event).pmu
        metric = read_metric(fields, self.running)
        if metric is not None:
            self.metrics.append((self.pmu, metric))


def parse_output(text: str) -> PerfOutput:
    """All lines of a file that `perf stat -j` wrote, but for comments and hints between them."""
    output = PerfOutput()
    for line in map(str.strip, text.splitlines()):
        if line.startswith("{"):
            try:
                output.take(line)
            except CounterError as error:
                shown = repr(line if len(line) <= 120 else line[:117] + "...")
                raise CounterError(f"{error}: {shown}") from error
    return output


def select_event(wanted: str, output: PerfOutput) -> list[Counter]:
    """The counters that answer one wanted event."""
    perf_name = PERF_NAMES.get(wanted, wanted)
    found = [
        (part, counter)
        for counter in output.events
        if (part := parse_event_name(counter.event)).name == perf_name
    ]
    unit = "ns" if wanted in CLOCKS else "count"
    chosen: list[Counter] = []
    for part, counter in found:
        if part.user_only and wanted in KERNEL_ONLY:
            continue
        if part.user_only and part.pmu is None and counter.state != COUNTED:
            continue
        # A clock runs the same with and without the modifier: one name for one thing.
        keep_name = part.pmu is not None or (part.user_only and wanted not in CLOCKS)
        name = counter.event if keep_name else wanted
        chosen.append(Counter(name, counter.value, unit, counter.running_percent, counter.state))
    # A count of user space only keeps its own name, so the requested event is not supported.
    whole = any(part.pmu is not None or not part.user_only for part, _ in found)
    if not whole and not any(counter.event == wanted for counter in chosen):
        chosen.append(not_supported(wanted, unit))
    return chosen


def select_topdown(output: PerfOutput) -> list[Counter]:
    """The four metrics, once for each kind of core that ran anything."""
    chosen: dict[str, Counter] = {}
    for pmu, metric in output.metrics:
        before = chosen.get(metric.event)
        if before is None or before.state != COUNTED:
            chosen[metric.event] = metric
        elif metric.state == COUNTED:
            name = f"{metric.event} ({pmu or 'again'})"
            chosen.setdefault(
                name, Counter(name, metric.value, "%", metric.running_percent, COUNTED)
            )
    for name in TOPDOWN_METRICS:
        chosen.setdefault(name, not_supported(name, "%"))
    return list(chosen.values())


def read_counters(text: str, wanted: Sequence[str]) -> list[Counter]:
    """The counters of the wanted events in the text that perf wrote: at least one for each event,
    each name once."""
    output = parse_output(text)
    chosen: dict[str, Counter] = {}
    for event in wanted:
        answers = select_topdown(output) if event == TOPDOWN else select_event(event, output)
        for counter in answers:
            chosen.setdefault(counter.event, counter)
    return list(chosen.values())

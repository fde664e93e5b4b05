"""Parses perf's JSON lines into counters.

The lines differ with perf's version, the CPU and the user's privileges; only this file knows that.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from regatta.errors import CounterError
from regatta.record.counters import (
    COUNTED,
    COUNTERS,
    NOT_COUNTED,
    NOT_SUPPORTED,
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


def number(line: str, key: str, value: object) -> float:
    """A finite number, whether perf printed it as a number or as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise CounterError(f"perf printed no number for `{key}`: {shorten(line)}")
    try:
        plain = float(str(value).strip())
    except ValueError as error:
        raise CounterError(f"perf printed no number for `{key}`: {shorten(line)}") from error
    if not math.isfinite(plain):
        raise CounterError(f"perf printed no finite number for `{key}`: {shorten(line)}")
    return plain


def shorten(line: str) -> str:
    return repr(line if len(line) <= 120 else line[:117] + "...")


def text_of(line: str, fields: dict[str, object], key: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise CounterError(f"perf printed no text for `{key}`: {shorten(line)}")
    return value


def parse_line(line: str) -> dict[str, object] | None:
    """The fields of one line, or None for comments and hints between the lines."""
    text = line.strip()
    if not text.startswith("{"):
        return None
    # perf 6.13 and some others leave a comma before the closing brace.
    text = re.sub(r",\s*\}$", "}", text)
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CounterError(f"perf printed a line that is not JSON: {shorten(line)}") from error
    if not isinstance(fields, dict):
        raise CounterError(f"perf printed a line that is not an object: {shorten(line)}")
    return fields


def read_event(line: str, fields: dict[str, object], running: float | None) -> Counter:
    """The counter that one line holds, under perf's own name."""
    event = text_of(line, fields, "event")
    raw = fields["counter-value"]
    unit_text = text_of(line, fields, "unit")
    unit = "ns" if unit_text in NS_PER_UNIT else unit_text or "count"
    if raw == "<not supported>":
        return Counter(event, None, unit, None, NOT_SUPPORTED)
    if raw == "<not counted>" or running == 0:
        return Counter(event, None, unit, None, NOT_COUNTED)
    value = number(line, "counter-value", raw)
    if value < 0:
        raise CounterError(f"perf printed a count below 0: {shorten(line)}")
    value = round(value * NS_PER_UNIT[unit_text]) if unit == "ns" else value
    return Counter(event, float(value), unit, running, COUNTED)


def read_metric(line: str, fields: dict[str, object], running: float | None) -> Counter | None:
    """The top-down metric at the end of the line, if there is one."""
    match = METRIC_PATTERN.fullmatch(text_of(line, fields, "metric-unit").strip())
    if match is None:
        return None
    event = f"tma_{match['name'].lower()}"
    raw = fields.get("metric-value")
    # A metric whose events never ran is printed as nan, none, or nothing.
    if raw is None or str(raw).strip().lower() in ("", "nan", "-nan", "none", "inf", "-inf"):
        return Counter(event, None, "%", None, NOT_COUNTED)
    value = number(line, "metric-value", raw)
    percent = value if match["percent"] else value * 100
    return Counter(event, percent, "%", running, COUNTED)


@dataclass(frozen=True)
class PerfOutput:
    """Everything in one output of perf; each metric with its kind of core, if perf names it."""

    events: tuple[Counter, ...]
    metrics: tuple[tuple[str | None, Counter], ...]


def parse_output(text: str) -> PerfOutput:
    """All lines of a file that `perf stat -j` wrote."""
    events: list[Counter] = []
    metrics: list[tuple[str | None, Counter]] = []
    running: float | None = None
    pmu: str | None = None
    for line in text.splitlines():
        fields = parse_line(line)
        if fields is None:
            continue
        if "pcnt-running" in fields:
            running = number(line, "pcnt-running", fields["pcnt-running"])
            if not 0 <= running <= 100:
                raise CounterError(f"perf printed a percentage outside 0 to 100: {shorten(line)}")
        if "metricgroup" in fields:
            group = GROUP_PATTERN.fullmatch(text_of(line, fields, "metricgroup"))
            pmu = group["pmu"] if group else None
        if "counter-value" in fields:
            counter = read_event(line, fields, running)
            events.append(counter)
            pmu = parse_event_name(counter.event).pmu
        metric = read_metric(line, fields, running)
        if metric is not None:
            metrics.append((pmu, metric))
    return PerfOutput(tuple(events), tuple(metrics))


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


def select(wanted: Sequence[str], output: PerfOutput) -> list[Counter]:
    """The counters of the wanted events: at least one for each event, each name once."""
    chosen: dict[str, Counter] = {}
    for event in wanted:
        answers = select_topdown(output) if event == TOPDOWN else select_event(event, output)
        for counter in answers:
            chosen.setdefault(counter.event, counter)
    return list(chosen.values())


def read_counters(text: str, wanted: Sequence[str]) -> list[Counter]:
    """The wanted counters from the text that perf wrote."""
    return select(wanted, parse_output(text))

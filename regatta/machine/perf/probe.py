"""Asks perf what it can count on this machine."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace

from regatta.errors import CounterError
from regatta.ledger.counters import COUNTED, TOPDOWN
from regatta.ledger.event_names import PERF_NAMES
from regatta.ledger.perf_output import parse_output
from regatta.machine.accounts import cgroup
from regatta.machine.perf.stat import Perf, following, without_perf
from regatta.machine.proc import read_text
from regatta.machine.programs import find_tool

PROBE_TIMEOUT_S = 20
PLAINEST = "task-clock"  # a perf that cannot count this can count nothing
# Intel's and AMD's groups of the same four metrics. AMD's fifth (SMT contention) is ignored.
TOPDOWN_GROUPS = ("TopdownL1", "PipelineL1")


def try_stat(path: str, arguments: Sequence[str]) -> tuple[str | None, str]:
    """perf's JSON for a command that does nothing, or None if it failed, and its stderr."""
    command = [path, "stat", "-j", *arguments, "--", "true"]
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_TIMEOUT_S,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    # perf writes both its counters and its errors to stderr.
    return (run.stderr if run.returncode == 0 else None), run.stderr


def openable_events(path: str, events: Sequence[str]) -> list[str]:
    """The events that perf accepts: one unknown event would make it reject all of them."""
    names = [PERF_NAMES.get(event, event) for event in events]
    if not names or try_stat(path, ["-e", ",".join(names)])[0] is not None:
        return list(events)
    return [
        event
        for event, name in zip(events, names, strict=True)
        if try_stat(path, ["-e", name])[0] is not None
    ]


def find_metric_group(path: str) -> str | None:
    """The top-down metric group of this CPU, if perf knows one and can count its events."""
    for group in TOPDOWN_GROUPS:
        text, _ = try_stat(path, ["-M", group])
        if text is None:
            continue
        try:
            output = parse_output(text)
        except CounterError:
            continue
        if any(metric.state == COUNTED for _, metric in output.metrics):
            return group
    return None


def probe(events: Sequence[str]) -> Perf:
    """Asks perf, once per race, which events it can open here."""
    path = find_tool("perf")
    if path is None:
        return without_perf(
            "perf is not installed: only the kernel's own accounting is recorded; "
            "install the package linux-perf (Debian) or linux-tools-generic (Ubuntu)"
        )
    version_run = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    version = version_run.stdout.strip() or None
    text, complaint = try_stat(path, ["-e", PLAINEST])
    if text is None:
        lines = [line for line in complaint.splitlines() if line.strip()]
        reason = lines[0].strip() if lines else "it cannot count"
        paranoid = read_text("/proc/sys/kernel/perf_event_paranoid") or "unknown"
        return without_perf(
            f"perf cannot be used (kernel.perf_event_paranoid is {paranoid}; {reason}): "
            "only the kernel's own accounting is recorded; run as root, or lower that setting"
        )
    wanted = [event for event in events if event != TOPDOWN]
    openable = openable_events(path, list(dict.fromkeys((PLAINEST, *wanted))))
    group = find_metric_group(path) if TOPDOWN in events else None
    return Perf(path, version, tuple(openable), group, None, can_follow(path))


def common(found: Sequence[Perf]) -> Perf:
    """What perf can count on all hosts."""
    first, *others = found
    for other in others:
        if first.path is None or other.path is None:
            return without_perf(first.note or other.note)
        same = first.metric_group == other.metric_group
        first = replace(
            first,
            path=first.path if first.path == other.path else "perf",
            openable=tuple(event for event in first.openable if event in other.openable),
            metric_group=first.metric_group if same else None,
            by_group=first.by_group and other.by_group,
        )
    return first


def can_follow(path: str) -> bool:
    """True if perf can count a control group, which takes privileges and perf 5.11."""
    home = cgroup.find_home()
    if home is None:
        return False
    group = home.make()
    try:
        found = try_stat(path, [*following(group.name, (0,)), "-e", PLAINEST])[0]
    finally:
        group.close()
    return found is not None

"""The metrics: how each is computed from a trial, from which kind of trial, and its name.

CPU time, throughput and latency come from timed trials only, because counting disturbs them; every
other counter comes from counted trials only. A counter without a value says why; it is never 0.
"""

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from regatta.record.counters import (
    COMPANIONS_TIME,
    COUNT,
    COUNTERS,
    KERNEL_MEMORY,
    MEMORY,
    MEMORY_AT_REST,
    PEAK_MEMORY,
    START_UP,
)
from regatta.record.readings import (
    PerTrial,
    busy_per_request,
    clock_ghz,
    connections_spread,
    counters_running,
    cpus_utilized,
    either_per_request,
    elapsed_s,
    net_energy_per_request,
    of_core,
    per_request,
    per_second,
    plain,
    ratio,
    stalled_per_instruction,
    throughput,
)
from regatta.record.records import CLIENT, COUNTED_TRIAL, SERVER, TIMED
from regatta.record.samples import answers_per_burst, latency_by_arrival, out_of_order_percent

NO_TRIAL = "no trial"
SIDES = (SERVER, CLIENT)
BYTES_PER_MIB = 2**20
Better = Literal["lower", "higher", ""]


@dataclass(frozen=True)
class Metric:
    name: str
    label: str
    unit: str
    """Empty for a plain number."""
    kind: str
    """The kind of trial that it is computed from."""
    sides: tuple[str, ...]
    better: Better
    """Empty if neither is."""
    read: PerTrial | None
    """None for a metric of the pooled requests of all trials."""
    says: str
    """One sentence for the reader."""
    is_charted: bool = True
    """False if another metric's chart shows the same, or if neither more nor less is better."""
    by_core: bool = False
    """A ratio of hardware counters: each kind of core of a hybrid CPU has its own."""

    @property
    def claimed_as(self) -> str:
        """Its name in a claim: without the unit."""
        return re.sub("(_percent|_ms|_per_s|_s|_mib)$", "", self.name)


UNITS = {
    "_us": "µs",
    "_ms": "ms",
    "_per_s": "/s",
    "_per_second": "/s",
    "elapsed_s": "s",
    "_percent": "%",
    "_miss_rate": "%",
    "_mib": "MiB",
    "_uj": "µJ",
    "_ghz": "GHz",
}
"""Of a metric, by the end of its name; others are plain numbers."""
CLIENTS, SERVERS = (CLIENT,), (SERVER,)
NEITHER: Final = ""


def _row(  # noqa: PLR0913, PLR0917  (what a metric is)
    kind: str,
    name: str,
    label: str,
    read: PerTrial | None,
    says: str,
    better: Better = "lower",
    sides: tuple[str, ...] = SIDES,
    **more: bool,
) -> Metric:
    unit = next((unit for end, unit in UNITS.items() if name.endswith(end)), "")
    return Metric(name, label, unit, kind, sides, better, read, says, **more)


_timed, _counted = partial(_row, TIMED), partial(_row, COUNTED_TRIAL)
_by_core = partial(_row, COUNTED_TRIAL, by_core=True)


def _memory(name: str, label: str, counter: str, says: str) -> Metric:
    read = plain(counter, "kernel", 1 / BYTES_PER_MIB)
    return _timed(name, label, read, says, sides=SERVERS)


def _latency(name: str, label: str, says: str) -> Metric:
    return _timed(name, label, None, says, sides=CLIENTS)


def _of_burst(name: str, label: str, read: PerTrial, says: str) -> Metric:
    return _timed(name, label, read, says, NEITHER, CLIENTS)


RATES = {
    f"{kind.claimed_as}_per_second": kind for kind in COUNTERS if kind.perf and kind.unit == COUNT
}
"""Kinds of counter, by the name of the metric that is their count per second."""

# A table, a metric a row, which one line an argument would tear apart.
# fmt: off
METRICS: tuple[Metric, ...] = (
    _timed("cpu_time_per_request_us", "CPU per request", per_request("cpu-time", "kernel", 1e-3),
           "User and system time of the process, its threads and its children, as the kernel "
           "accounts it."),
    _timed("cpu_busy_per_request_us", "CPU busy per request", busy_per_request,
           "Busy time of the side's CPUs, charged to a task or not: tasks, softirqs and "
           "interrupts."),
    _timed("companions_time_per_request_us", "companions' CPU per request",
           per_request(COMPANIONS_TIME, "kernel", 1e-3),
           "CPU time of the programs that run beside the server (`with`); not in its own.",
           sides=SERVERS),
    _counted("task_clock_per_request_us", "task-clock per request",
             per_request("task-clock", factor=1e-3),
             "CPU time as perf counts it, perf's own overhead included."),
    _timed("user_time_per_request_us", "user time per request",
           per_request("user-time", "kernel", 1e-3),
           "Time in the program itself; the kernel counts it in whole ticks."),
    _timed("system_time_per_request_us", "system time per request",
           per_request("system-time", "kernel", 1e-3),
           "Time in the kernel; the kernel counts it in whole ticks."),
    _timed("cpus_utilized", "CPUs utilized", cpus_utilized,
           "How many CPUs were busy on average over the window.", NEITHER),
    _counted("context_switches_per_request", "context switches per request",
             either_per_request("context-switches"),
             "How often the kernel gave the CPU to another thread."),
    _counted("page_faults_per_request", "page faults per request",
             either_per_request("page-faults"),
             "How often memory had to be mapped; each new thread or process causes some."),
    _counted("syscalls_per_request", "system calls per request", per_request("syscalls"),
             "How many system calls the program made."),
    _counted("cpu_migrations_per_request", "CPU migrations per request",
             per_request("cpu-migrations"), "How often a thread moved to another CPU."),
    _counted("cycles_per_request", "cycles per request", per_request("cycles"),
             "CPU clock cycles; unlike time, they do not depend on the clock frequency."),
    _counted("instructions_per_request", "instructions per request", per_request("instructions"),
             "Instructions retired."),
    _by_core("instructions_per_cycle", "instructions per cycle", ratio("instructions", "cycles"),
             "How many instructions the CPU retired in a cycle.", "higher"),
    _counted("clock_ghz", "clock", clock_ghz,
             "Cycles per ns of CPU time: the average clock frequency while the program ran.",
             NEITHER),
    _by_core("branch_miss_rate", "branch misses", ratio("branch-misses", "branches", 100),
             "Share of branches that the CPU mispredicted."),
    _by_core("cache_miss_rate", "cache misses", ratio("cache-misses", "cache-references", 100),
             "Share of last-level cache references that had to go to memory."),
    _counted("cache_misses_per_request", "cache misses per request", per_request("cache-misses"),
             "How often data had to come from memory."),
    _by_core("stalled_cycles_frontend_share_percent", "cycles stalled in the front end",
             ratio("stalled-cycles-frontend", "cycles", 100),
             "Share of the cycles in which the CPU waited for instructions."),
    _by_core("stalled_cycles_backend_share_percent", "cycles stalled in the back end",
             ratio("stalled-cycles-backend", "cycles", 100),
             "Share of the cycles in which the CPU waited for data or execution units."),
    _by_core("stalled_cycles_per_instruction", "stalled cycles per instruction",
             stalled_per_instruction,
             "Cycles stalled in the front end or the back end, whichever stalled longer."),
    *(_counted(name, f"{kind.name.replace('-', ' ')} a second", per_second(kind.name),
               f"Number of {kind.name} per second of CPU time, as perf stat prints it.",
               NEITHER, is_charted=False)
      for name, kind in RATES.items()),
    _counted("counters_running_percent", "counters ran", counters_running,
             "Share of the time that the least-run counter was counting; perf extrapolates the "
             "rest.", NEITHER, is_charted=False),
    _timed("elapsed_s", "elapsed", elapsed_s,
           "Length of the server's window or of its whole process; for a client, of its load.",
           NEITHER, is_charted=False),
    _memory("peak_memory_mib", "peak memory", PEAK_MEMORY,
            "Peak resident memory of its largest process; forked processes share most of it."),
    _timed("start_up_ms", "start-up time", plain(START_UP, "kernel"),
           "From the server's exec to its first answer.", sides=SERVERS),
    _memory("memory_at_rest_mib", "memory at rest", MEMORY_AT_REST,
            "Memory of all its processes after the first answer; pages that they share count "
            "once."),
    _memory("memory_mib", "memory", MEMORY,
            "The same at the end of the load, with its idle connections open."),
    _memory("kernel_memory_mib", "kernel memory", KERNEL_MEMORY,
            "What the kernel then holds for it: sockets, buffers, stacks, page tables, "
            "descriptors."),
    _timed("energy_per_request_uj", "energy per request", per_request("energy", "cpus"),
           "Energy of the whole CPU packages of the server's host, by RAPL.", sides=SERVERS),
    _timed("net_energy_per_request_uj", "net energy per request", net_energy_per_request,
           "The same without what the idle machine takes in that time.", sides=SERVERS),
    _timed("connections_per_worker_spread_percent", "spread of connections over workers",
           connections_spread,
           "Standard deviation of the connections per worker, as a percentage of the mean.",
           NEITHER, SERVERS),
    _counted("tma_retiring_percent", "top-down: retiring", plain("tma_retiring"),
             "Share of the CPU's slots that did useful work.", "higher"),
    _counted("tma_bad_speculation_percent", "top-down: bad speculation",
             plain("tma_bad_speculation"),
             "Share of the slots lost to work that was thrown away."),
    _counted("tma_frontend_bound_percent", "top-down: frontend bound",
             plain("tma_frontend_bound"), "Share of the slots lost waiting for instructions."),
    _counted("tma_backend_bound_percent", "top-down: backend bound", plain("tma_backend_bound"),
             "Share of the slots lost waiting for data or execution units."),
    _latency("latency_p50_ms", "latency p50", "Half of all requests were answered within this."),
    _latency("latency_p99_ms", "latency p99", "99 of 100 requests were answered within this."),
    _latency("latency_p999_ms", "latency p99.9",
             "999 of 1,000 requests were answered within this."),
    _latency("latency_max_ms", "latency max",
             "Latency of the slowest request; a longer run may see a slower one."),
    _timed("throughput_per_s", "throughput", throughput,
           "Answered requests per second, from the first start to the last end.",
           "higher", CLIENTS),
    _of_burst("latency_by_arrival", "latency by arrival", latency_by_arrival,
              "Rank correlation of latency with order of arrival; 1: later clients always wait "
              "longer."),
    _of_burst("replies_out_of_order_percent", "replies out of order", out_of_order_percent,
              "Share of a burst's replies that came after the reply to a later connection."),
    _of_burst("answers_per_burst", "different answers in a burst", answers_per_burst,
              "How many different sets of processes the replies of one burst named."),
)
# fmt: on

BY_NAME = {metric.name: metric for metric in METRICS}
PRIMARY, BUSY = BY_NAME["cpu_time_per_request_us"], BY_NAME["cpu_busy_per_request_us"]
COMPANIONS = BY_NAME["companions_time_per_request_us"]
SWITCHES_PER_REQUEST = BY_NAME["context_switches_per_request"]
FAULTS_PER_REQUEST = BY_NAME["page_faults_per_request"]
P50, P99, P999 = (BY_NAME[f"latency_{name}_ms"] for name in ("p50", "p99", "p999"))
LATENCY_MAX, THROUGHPUT = BY_NAME["latency_max_ms"], BY_NAME["throughput_per_s"]
FRACTIONS = {P50.name: 0.5, P99.name: 0.99, P999.name: 0.999, LATENCY_MAX.name: 1.0}
"""The share of all requests that are answered within the metric; 1: the slowest one."""
ON_CORE = "_on_"
"""Part of the name of a metric on one kind of core: `instructions_per_cycle_on_cpu_atom`."""
CHARTED = tuple(metric for metric in METRICS if metric.is_charted)

STANDINGS = (
    PRIMARY,
    BUSY,
    SWITCHES_PER_REQUEST,
    FAULTS_PER_REQUEST,
    P50,
    P99,
    LATENCY_MAX,
    THROUGHPUT,
)
"""The columns of the standings, in order."""


NEAR_ZERO = 0.1
COUNTS = frozenset({SWITCHES_PER_REQUEST.name, FAULTS_PER_REQUEST.name})
"""A ratio to less than NEAR_ZERO of these per request means little: x 28 may be 1 in 100."""


def on_core(metric: Metric, core: str) -> Metric:
    """The same metric on one kind of core, given by perf's name."""
    assert metric.read is not None
    return replace(
        metric,
        name=f"{metric.name}{ON_CORE}{core}",
        label=f"{metric.label} on {core}",
        read=of_core(core, metric.read),
    )


def metric_named(name: str) -> Metric:
    """The metric with this name: one of METRICS, or one of them on one kind of core."""
    whole, of_one_kind, core = name.partition(ON_CORE)
    return on_core(BY_NAME[whole], core) if of_one_kind else BY_NAME[name]


def side_of(metric: Metric) -> str:
    """The side whose figure the standings show."""
    return metric.sides[0]

"""How a claim's metric is measured: per request over the window, as a sum of a whole process."""

from dataclasses import dataclass

from regatta.ledger import metrics
from regatta.ledger.cell import PROCESS
from regatta.ledger.inputs.claim import OVER_ITERATIVE
from regatta.ledger.metrics import BY_NAME, SIDES, Metric
from regatta.ledger.planned import COUNTED_TRIAL, TIMED
from regatta.ledger.readings import PerTrial, first_known, per_request, plain
from regatta.study.claims.metrics import EVENT_METRICS

MS_PER_NS = 1e-6
CPU_NAMES = ("task_clock", "cpu_clock")
TIMES = {"user_time": "user-time", "system_time": "system-time"}
SAME = {
    **dict.fromkeys(CPU_NAMES, metrics.PRIMARY.name),
    "user_time": "user_time_per_request_us",
    "system_time": "system_time_per_request_us",
    "latency_p50": metrics.P50.name,
    "latency_p99": metrics.P99.name,
    "latency_p999": metrics.P999.name,
    "latency_max": metrics.LATENCY_MAX.name,
    "throughput": metrics.THROUGHPUT.name,
}
"""The standings' metric of a claim's metric, where the names differ."""
ENDINGS = ("", "_per_request", "_percent", "_s", "_mib", "_ms")


@dataclass(frozen=True)
class Measure:
    metric: Metric
    per: str
    """`request`, `process`, or empty for what is not a sum."""
    over_iterative: bool = False
    """The iterative server's is subtracted, block by block."""


def measure(name: str, scope: str) -> Measure:
    """How a claim's metric is measured in a scope."""
    over = name.endswith(OVER_ITERATIVE)
    base = name.removesuffix(OVER_ITERATIVE)
    if base not in EVENT_METRICS:
        # Metrics that are not sums mean the same in both scopes.
        return Measure(_known(base) or BY_NAME[base], "", over)
    if scope == PROCESS:
        return Measure(_total(base), "process", over)
    return Measure(_share(base), "request", over)


def _share(name: str) -> Metric:
    """Per request. CPU time is the kernel's account, from trials without perf attached."""
    return _known(name) or _counted(name, per_request(name.replace("_", "-")))


def _known(name: str) -> Metric | None:
    names = [SAME.get(name, name) + ending for ending in ENDINGS]
    return next((BY_NAME[full] for full in names if full in BY_NAME), None)


def _total(name: str) -> Metric:
    """Of a whole process, as perf stat counts it; without perf the kernel's account."""
    if name in TIMES:
        return Metric(name, name, "ms", TIMED, SIDES, "lower", _kernel_ms(TIMES[name]), "")
    if name in CPU_NAMES:
        clock = plain(name.replace("_", "-"), factor=MS_PER_NS)
        read = first_known(clock, _kernel_ms("cpu-time"))
        return Metric(name, name, "ms", COUNTED_TRIAL, SIDES, "lower", read, "")
    event_name = name.replace("_", "-")
    return _counted(name, first_known(plain(event_name), plain(event_name, "kernel")))


def _counted(name: str, read: PerTrial) -> Metric:
    return Metric(name, name.replace("_", " "), "", COUNTED_TRIAL, SIDES, "lower", read, "")


def _kernel_ms(name: str) -> PerTrial:
    return plain(name, "kernel", MS_PER_NS)

"""OpenMetrics text, in base units: for a Pushgateway or node_exporter's textfile collector."""

from collections.abc import Iterator
from dataclasses import dataclass

from regatta.analysis.results import Analysis
from regatta.ledger.metrics import BYTES_PER_MIB, P50, P99, PRIMARY
from regatta.report.exports.figures import EXPORTED, Figure, figures

BOUNDS = ("value", "low", "high")


@dataclass(frozen=True)
class Family:
    name: str
    unit: str
    factor: float
    """From the metric's own unit."""


FAMILIES = {
    PRIMARY.name: Family("regatta_server_cpu_per_request_seconds", "seconds", 1e-6),
    P50.name: Family("regatta_latency_p50_seconds", "seconds", 1e-3),
    P99.name: Family("regatta_latency_p99_seconds", "seconds", 1e-3),
    "peak_memory_mib": Family("regatta_peak_memory_bytes", "bytes", BYTES_PER_MIB),
}


def to_openmetrics(analysis: Analysis) -> str:
    found = list(figures(analysis))
    lines = []
    for metric in EXPORTED:
        family = FAMILIES[metric.name]
        lines += [
            f"# TYPE {family.name} gauge",
            f"# UNIT {family.name} {family.unit}",
            f"# HELP {family.name} {_escaped(metric.says)}",
        ]
        for one in found:
            if one.metric is metric:
                lines += _samples(one, family)
    return "\n".join([*lines, "# EOF"]) + "\n"


def _samples(one: Figure, family: Family) -> Iterator[str]:
    """The value and the ends of its 95 % interval."""
    labels = {"contender": one.contender, **one.load}
    for bound, value in zip(BOUNDS, (one.value, one.estimate.low, one.estimate.high), strict=True):
        if value is not None:
            said = {**labels, "bound": bound}
            text = ",".join(f'{name}="{_escaped(value)}"' for name, value in said.items())
            yield f"{family.name}{{{text}}} {value * family.factor!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')

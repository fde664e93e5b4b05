"""The figures of a race in the formats of tools that keep histories.

What would fail is refused before a race starts.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from regatta.analysis.results import Analysis
from regatta.errors import UsageError
from regatta.ledger.metrics import BYTES_PER_MIB, P50, P99, PRIMARY
from regatta.report.exports.figures import EXPORTED, Figure, figures
from regatta.report.text.atomic_write import write_whole
from regatta.report.text.numbers import around, plural
from regatta.report.text.printable import printable

Entry = dict[str, Any]


def to_otava(analysis: Analysis, history: list[Entry], revision: dict[str, str]) -> str:
    """Apache Otava's JSON: the history with an entry more.

    `revision`: branch and commit; Otava names them where a figure changed.
    """
    entry = {
        "timestamp": int(float(analysis.meta.get("created_at") or 0)),
        "metrics": [{"name": one.path, "value": one.value} for one in figures(analysis)],
        "attributes": {"study": analysis.names.name, **revision},
    }
    return json.dumps([*history, entry], indent=1, allow_nan=False) + "\n"


def read_history(path: Path) -> list[Entry]:
    """The races in a file so far; none if there is no file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be added to: {error}; name another file") from error
    if not isinstance(found, list) or not all(is_entry(one) for one in found):
        raise UsageError(f"{path} is no history of Otava; name another file")
    return found


def is_entry(one: Any) -> bool:
    return isinstance(one, dict) and {"timestamp", "metrics", "attributes"} <= one.keys()


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
    """In base units: for a Pushgateway or node_exporter's textfile collector."""
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


def to_github_action(analysis: Analysis) -> str:
    """Tool customSmallerIsBetter of that action: [{name, unit, value, range, extra}]."""
    found = []
    for one in figures(analysis):
        _, half = around(one.estimate)
        entry = {
            "name": printable(f"{one.benchmark}: {one.metric.label}"),
            "unit": one.metric.unit,
            "value": one.value,
            "extra": f"{plural(one.estimate.trials, 'trial')}\n95 % interval",
        }
        found.append(entry | ({"range": f"± {half}"} if half else {}))
    return json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def to_bmf(analysis: Analysis) -> str:
    """Bencher Metric Format: {benchmark: {measure: {value, lower_value, upper_value}}}."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for one in figures(analysis):
        metric = {"value": one.value}
        for key, end in (("lower_value", one.estimate.low), ("upper_value", one.estimate.high)):
            if end is not None:
                metric[key] = end
        found.setdefault(printable(one.benchmark), {})[one.metric.name] = metric
    return json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


OTAVA = "otava"
FORMATS = {
    "bmf": to_bmf,
    "github-action-benchmark": to_github_action,
    "openmetrics": to_openmetrics,
}
NAMES = (*FORMATS, OTAVA)
REVISION = {
    "branch": ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"),
    "commit": ("GITHUB_SHA", "CI_COMMIT_SHA"),
}
"""Environment variables of CI systems, the first that is set counts."""


@dataclass(frozen=True)
class Export:
    format: str
    file: Path


def parse_exports(texts: Sequence[str]) -> list[Export]:
    """Reads `bmf:bencher.json`; UsageError for what cannot be written."""
    found = []
    for text in texts:
        name, _, file = text.partition(":")
        if name not in NAMES:
            close = get_close_matches(name, NAMES, 1)
            meant = f"did you mean {close[0]}? " if close else ""
            raise UsageError(
                f"--export is {text}; {meant}write FORMAT:FILE with one of {', '.join(NAMES)}"
            )
        if not file:
            raise UsageError(f"--export is {text}; name a file: {name}:FILE")
        path = Path(file)
        if not path.absolute().parent.is_dir() or path.is_dir():
            raise UsageError(f"--export is {text}; {file} must be a file in an existing folder")
        if name == OTAVA:
            read_history(path)
        found.append(Export(name, path))
    return found


def write_exports(analysis: Analysis, exports: Sequence[Export]) -> None:
    for one in exports:
        if one.format == OTAVA:
            text = to_otava(analysis, read_history(one.file), revision(os.environ))
        else:
            text = FORMATS[one.format](analysis)
        write_whole(one.file, text)


def revision(environment: Mapping[str, str]) -> dict[str, str]:
    """Branch and commit as a CI system names them, else empty: Otava needs both in each entry."""
    return {
        key: next((environment[name] for name in names if environment.get(name)), "")
        for key, names in REVISION.items()
    }

"""The figures of a race in the formats of tools that keep histories.

A history compares figures of the same name: so a name holds what the study says, and no rate that a
matched load found on this day. What would fail is refused before a race starts.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from regatta.errors import UsageError
from regatta.judge.estimates import Estimate
from regatta.judge.results import Analysis
from regatta.record.cell import CONTENDER_FIELDS, IDENTITY, Cell
from regatta.record.files import write_whole
from regatta.record.metrics import BY_NAME, BYTES_PER_MIB, P50, P99, PRIMARY, Metric, side_of
from regatta.show.text import printable

FAMILIES = {
    PRIMARY: ("regatta_server_cpu_per_request", "seconds", 1e-6),
    P50: ("regatta_latency_p50", "seconds", 1e-3),
    P99: ("regatta_latency_p99", "seconds", 1e-3),
    BY_NAME["peak_memory_mib"]: ("regatta_peak_memory", "bytes", BYTES_PER_MIB),
}
"""What is exported, of all of which less is better: its OpenMetrics name, base unit and factor."""
RATE = "rate"
REVISION = {
    "branch": ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"),
    "commit": ("GITHUB_SHA", "CI_COMMIT_SHA"),
}
"""Environment variables of CI systems, the first that is set counts. Otava needs both in an entry
and names them where a figure changed."""


@dataclass(frozen=True)
class ExportedFigure:
    """One metric of one contender under one load."""

    contender: str
    load: dict[str, str]
    """Connections, and whatever else differs between the loads of the race."""
    metric: Metric
    estimate: Estimate
    value: float


def figures(analysis: Analysis) -> Iterator[ExportedFigure]:
    """Those that were measured, contenders in the order of the tables."""
    # Each cell once: a design without a pool is in the table of each pool size.
    results = {one.cell.id: one for group in analysis.groups for one in group.cells}
    cells = [result.cell for result in results.values()]
    names = [name for name in IDENTITY if _differs(cells, name)]
    for result in results.values():
        cell = result.cell
        load = {"connections": str(cell.connections)}
        load |= {name: str(value) for name in names if (value := getattr(cell, name)) is not None}
        if RATE in load and analysis.held:
            load[RATE] = _rank(cell, cells)
        for metric in FAMILIES:
            estimate = result.estimates[side_of(metric), metric.name]
            if estimate.value is not None:
                yield ExportedFigure(cell.contender, load, metric, estimate, estimate.value)


def _differs(cells: list[Cell], name: str) -> bool:
    """Whether it tells apart cells of one contender with equal connections. Pool sizes do; rounds
    follow from the connections."""
    if name == "connections" or (name in CONTENDER_FIELDS and name != "workers"):
        return False
    known: dict[tuple[str, int], Any] = {}
    return any(
        known.setdefault((one.contender, one.connections), value) != value
        for one in cells
        for value in [getattr(one, name)]
    )


def _rank(cell: Cell, cells: list[Cell]) -> str:
    """`1 of 3` of the rates of a matched load, which differ from race to race."""
    place = cell.contender, cell.connections
    same = {one.rate for one in cells if (one.contender, one.connections) == place}
    rates = sorted(rate for rate in same if rate is not None)
    return f"{rates.index(cell.rate) + 1} of {len(rates)}" if cell.rate in rates else "1 of 1"


def to_bmf(analysis: Analysis, _: Path) -> str:
    """Bencher Metric Format: {benchmark: {measure: {value, lower_value, upper_value}}}."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for one in figures(analysis):
        name = ", ".join([one.contender, *(f"{key} {text}" for key, text in one.load.items())])
        ends = {"lower_value": one.estimate.low, "upper_value": one.estimate.high}
        known = {key: end for key, end in ends.items() if end is not None}
        found.setdefault(printable(name), {})[one.metric.name] = {"value": one.value, **known}
    return _json(found)


def to_openmetrics(analysis: Analysis, _: Path) -> str:
    """In base units, with the ends of intervals: for a Pushgateway or node_exporter."""
    found, lines = list(figures(analysis)), []
    for metric, (name, unit, factor) in FAMILIES.items():
        family = f"{name}_{unit}"
        lines += [f"# TYPE {family} gauge", f"# UNIT {family} {unit}"]
        lines += [f"# HELP {family} {_escaped(metric.says)}"]
        for one in (one for one in found if one.metric is metric):
            bounds = {"value": one.value, "low": one.estimate.low, "high": one.estimate.high}
            for bound, value in bounds.items():
                labels = {"contender": one.contender, **one.load, "bound": bound}
                text = ",".join(f'{key}="{_escaped(label)}"' for key, label in labels.items())
                lines += [] if value is None else [f"{family}{{{text}}} {value * factor!r}"]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def to_otava(analysis: Analysis, history: Path) -> str:
    """Apache Otava's JSON: the history with an entry more; head/connections-50/latency_p50_ms."""
    metrics = []
    for one in figures(analysis):
        loads = (f"{key}-{text}" for key, text in one.load.items())
        words = (one.contender, *loads, one.metric.name)
        metrics.append({"name": "/".join(map(_word, words)), "value": one.value})
    revision = {
        key: next((os.environ[name] for name in names if os.environ.get(name)), "")
        for key, names in REVISION.items()
    }
    entry = {
        "timestamp": int(float(analysis.meta.get("created_at") or 0)),
        "metrics": metrics,
        "attributes": {"study": analysis.names.name, **revision},
    }
    return _json([*_read_history(history), entry])


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._=+-]+", "-", text).strip("-") or "-"


def _read_history(path: Path) -> list[dict[str, Any]]:
    """The races in a file so far; none if there is no file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be added to: {error}; name another file") from error
    keys = {"timestamp", "metrics", "attributes"}
    if not isinstance(found, list) or not all(
        isinstance(one, dict) and keys <= one.keys() for one in found
    ):
        raise UsageError(f"{path} is no history of Otava; name another file")
    return found


def _json(found: object) -> str:
    return json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


FORMATS = {"bmf": to_bmf, "otava": to_otava, "openmetrics": to_openmetrics}


class Export(NamedTuple):
    format: str
    file: Path


def parse_exports(texts: Sequence[str]) -> list[Export]:
    """Reads `bmf:bencher.json`; UsageError for what cannot be written."""
    found = []
    for text in texts:
        name, _, file = text.partition(":")
        if name not in FORMATS:
            close = get_close_matches(name, FORMATS, 1)
            meant = f"did you mean {close[0]}? " if close else ""
            raise UsageError(
                f"--export is {text}; {meant}write FORMAT:FILE with one of {', '.join(FORMATS)}"
            )
        if not file:
            raise UsageError(f"--export is {text}; name a file: {name}:FILE")
        path = Path(file)
        if not path.absolute().parent.is_dir() or path.is_dir():
            raise UsageError(f"--export is {text}; {file} must be a file in an existing folder")
        if FORMATS[name] is to_otava:
            _read_history(path)
        found.append(Export(name, path))
    return found


def write_exports(analysis: Analysis, exports: Sequence[Export]) -> None:
    for one in exports:
        write_whole(one.file, FORMATS[one.format](analysis, one.file))

"""The figures of a race in the formats of tools that keep histories.

A history compares figures of the same name: so a name holds what the study says, and no rate that a
matched load found on this day. What would fail is refused before a race starts.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from regatta.errors import UsageError
from regatta.judge.estimates import Estimate
from regatta.judge.results import Analysis
from regatta.record.cell import CONTENDER_FIELDS, IDENTITY, Cell
from regatta.record.files import write_whole
from regatta.record.metrics import BY_NAME, BYTES_PER_MIB, P50, P99, PRIMARY, Metric, side_of
from regatta.show.numbers import around, plural
from regatta.show.text import printable

FAMILIES = {
    PRIMARY: ("regatta_server_cpu_per_request", "seconds", 1e-6),
    P50: ("regatta_latency_p50", "seconds", 1e-3),
    P99: ("regatta_latency_p99", "seconds", 1e-3),
    BY_NAME["peak_memory_mib"]: ("regatta_peak_memory", "bytes", BYTES_PER_MIB),
}
"""What is exported, of all of which less is better: its OpenMetrics name, base unit and factor."""
RATE = "rate"
Entry = dict[str, Any]


@dataclass(frozen=True)
class ExportedFigure:
    """One metric of one contender under one load."""

    contender: str
    load: dict[str, str]
    """Connections, and whatever else differs between the loads of the race."""
    metric: Metric
    estimate: Estimate
    value: float

    @property
    def benchmark(self) -> str:
        return ", ".join([self.contender, *(f"{name} {text}" for name, text in self.load.items())])

    @property
    def path(self) -> str:
        """Benchmark and metric as one word: head/connections-50/latency_p50_ms."""
        loads = (f"{name}-{text}" for name, text in self.load.items())
        return "/".join(map(_word, [self.contender, *loads, self.metric.name]))


def figures(analysis: Analysis) -> Iterator[ExportedFigure]:
    """Those that were measured, contenders in the order of the tables."""
    # Each cell once: a design without a pool is in the table of each pool size.
    results = {one.cell.id: one for group in analysis.groups for one in group.cells}
    loads = _loads(analysis, [result.cell for result in results.values()])
    for result in results.values():
        for metric in FAMILIES:
            estimate = result.estimates[side_of(metric), metric.name]
            if estimate.value is not None:
                load = loads[result.cell.id]
                yield ExportedFigure(result.cell.contender, load, metric, estimate, estimate.value)


def _loads(analysis: Analysis, cells: list[Cell]) -> dict[int, dict[str, str]]:
    """The load of each cell, by cell id."""
    names = [name for name in IDENTITY if _differs(cells, name)]
    found: dict[int, dict[str, str]] = {}
    for cell in cells:
        load = {name: str(getattr(cell, name)) for name in names if getattr(cell, name) is not None}
        if RATE in load and analysis.held:
            load[RATE] = _rank(cell, cells)
        found[cell.id] = {"connections": str(cell.connections), **load}
    return found


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
    same = [
        one
        for one in cells
        if (one.contender, one.connections) == (cell.contender, cell.connections)
    ]
    rates = sorted({one.rate for one in same if one.rate is not None})
    return f"{rates.index(cell.rate) + 1} of {len(rates)}" if cell.rate in rates else "1 of 1"


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._=+-]+", "-", text).strip("-") or "-"


def to_bmf(analysis: Analysis) -> str:
    """Bencher Metric Format: {benchmark: {measure: {value, lower_value, upper_value}}}."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for one in figures(analysis):
        ends = (("lower_value", one.estimate.low), ("upper_value", one.estimate.high))
        known = {key: end for key, end in ends if end is not None}
        found.setdefault(printable(one.benchmark), {})[one.metric.name] = {
            "value": one.value,
            **known,
        }
    return _json(found)


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
    return _json(found)


def to_openmetrics(analysis: Analysis) -> str:
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


def to_otava(analysis: Analysis, history: list[Entry], revision: dict[str, str]) -> str:
    """Apache Otava's JSON: the history with an entry more. `revision`: branch and commit, which
    Otava names where a figure changed."""
    entry = {
        "timestamp": int(float(analysis.meta.get("created_at") or 0)),
        "metrics": [{"name": one.path, "value": one.value} for one in figures(analysis)],
        "attributes": {"study": analysis.names.name, **revision},
    }
    return _json([*history, entry])


def read_history(path: Path) -> list[Entry]:
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

"""A comparison of two races as tables and sentences, or as plain data."""

from dataclasses import asdict
from typing import Any

from rich.console import Console

from regatta.judge.compare.compare import CellComparison, ComparedRace, RaceComparison
from regatta.judge.compare.match import cell_words
from regatta.judge.judged import NO_REGRESSION, REGRESSION
from regatta.record.cell import AXES, IDENTITY, Cell
from regatta.record.metrics import PRIMARY, Metric
from regatta.show.numbers import DASH, cell_of, plural, short
from regatta.show.terminal import draw_table
from regatta.show.text import put
from regatta.show.view import table_of

ONE_RACE = (
    "Both versions in one race need far fewer, as the machine's drift cancels: "
    "regatta versus './old --port {port}' './new --port {port}'"
)


def print_comparison(comparison: RaceComparison, console: Console) -> None:
    """Prints a table for each metric, then the verdict in one sentence."""
    for name, race in (("OLD", comparison.old), ("NEW", comparison.new)):
        server = race.versions.get("server")
        put(console, f"{name}  {race.path}{f'  ({server})' if server else ''}", style="dim")
    for metric in dict.fromkeys(compared.metric for compared in comparison.cells):
        _print_metric(metric, [cell for cell in comparison.cells if cell.metric is metric], console)
    where = cell_words([compared.cell for compared in comparison.cells])
    for cell in comparison.cells:
        if cell.why:
            name = f"{cell.cell.contender}, {where[cell.cell.id]}"
            put(console, f"{name}: {cell.verdict}, {cell.why}.")
    console.print()
    put(console, comparison_sentence(comparison), style="bold")
    put(console, *comparison.notices, style="yellow")


def _print_metric(metric: Metric, cells: list[CellComparison], console: Console) -> None:
    unit = f", {metric.unit}" if metric.unit else ""
    side = "server " if cells[0].side == "server" and metric is PRIMARY else ""
    where = cell_words([compared.cell for compared in cells])
    (table,) = table_of(
        f"{side}{metric.label}{unit}",
        "",
        cells,
        {
            "design": lambda of: of.cell.contender,
            "cell": lambda of: where[of.cell.id],
            "OLD": lambda of: cell_of(of.old),
            "NEW": lambda of: cell_of(of.new),
            "NEW / OLD": _change,
            "verdict": lambda of: of.verdict,
        },
    )
    console.print()
    draw_table(table, [], console)


def _change(compared: CellComparison) -> str:
    if (known := compared.closed) is None:
        return DASH
    if compared.scale == "ratio":
        return f"{known.value:.3f}\n{known.low:.3f}–{known.high:.3f}"
    half = max((known.high - known.low) / 2, 1e-12)
    value, low, high = (short(end, half) for end in (known.value, known.low, known.high))
    return f"{'+' if known.value > 0 else ''}{value}\n{low} to {high}"


def comparison_sentence(comparison: RaceComparison) -> str:
    limit = f"{comparison.threshold * 100:g} %"
    found = [compared for compared in comparison.cells if compared.verdict == comparison.verdict]
    of = plural(len(comparison.cells), "comparison")
    each_is_one = max(comparison.old.sittings, comparison.new.sittings) < 2
    # A verdict on two races of one sitting each holds for these.
    within = ", in these two sittings" if each_is_one else ""
    if comparison.verdict == REGRESSION:
        return f"Regression beyond {limit} in {len(found)} of {of}{within}."
    if comparison.verdict == NO_REGRESSION:
        return f"No regression beyond {limit} in any of {of}{within}."
    needed = [each.blocks_needed for each in found if each.blocks_needed is not None]
    advice = ""
    if needed:
        units = plural(max(needed), "block" if each_is_one else "sitting")
        advice = f' Confirming "no change" needs about {units} per race.'
    return f"Undecided: {len(found)} of {of} may or may not be beyond {limit}.{advice} {ONE_RACE}"


def to_dict(comparison: RaceComparison) -> dict[str, Any]:
    return {
        "verdict": comparison.verdict,
        "exit_status": comparison.exit_status,
        "sentence": comparison_sentence(comparison),
        "threshold_percent": comparison.threshold * 100,
        "old": _race(comparison.old),
        "new": _race(comparison.new),
        "notices": comparison.notices,
        "cells": [_compared(compared) for compared in comparison.cells],
        "only_old": [_cell(cell) for cell in comparison.matched.only_old],
        "only_new": [_cell(cell) for cell in comparison.matched.only_new],
    }


def _race(race: ComparedRace) -> dict[str, Any]:
    return {
        "path": str(race.path),
        "study": race.study,
        "created_at": race.ledger.meta.get("created_at"),
        "sittings": race.sittings,
        "versions": race.versions,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {"label": cell.label(), **{name: getattr(cell, name) for name in IDENTITY}}


def _compared(compared: CellComparison) -> dict[str, Any]:
    cell, metric = compared.cell, compared.metric
    return {
        **{name: value for name, value in vars(compared).items() if name != "cell"},
        "label": cell.label(),
        **{name: getattr(cell, name) for name in ("contender", *AXES)},
        "metric": metric.name,
        "unit": metric.unit,
        "old": asdict(compared.old),
        "new": asdict(compared.new),
    }

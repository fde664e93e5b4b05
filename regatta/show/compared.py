"""Prints a comparison as tables and sentences, or converts it to plain data."""

from dataclasses import asdict
from typing import Any

from rich.console import Console

from regatta.judge.compare.compare import ComparedRace, RaceComparison
from regatta.judge.compare.decide import CellComparison
from regatta.judge.compare.disagreements import SAME, Disagreement, Winners
from regatta.judge.compare.match import cell_words
from regatta.judge.judged import NO_REGRESSION, REGRESSION
from regatta.record.cell import AXES, IDENTITY, Cell
from regatta.record.metrics import PRIMARY, Metric
from regatta.show.numbers import interval_of, plural, short, value_of
from regatta.show.terminal import draw_table
from regatta.show.text import plain
from regatta.show.view import Table, plain_table

ONE_RACE = (
    "Both versions in one race need far fewer, as the machine's drift cancels: "
    "regatta versus './old --port {port}' './new --port {port}'"
)


def print_comparison(comparison: RaceComparison, console: Console) -> None:
    """Prints a table for each metric, then the verdict in one sentence."""
    for name, race in (("OLD", comparison.old), ("NEW", comparison.new)):
        _line(f"{name}  {race.path}{_versions(race)}", console, "dim")
    for metric in dict.fromkeys(compared.metric for compared in comparison.cells):
        of_metric = [compared for compared in comparison.cells if compared.metric is metric]
        console.print()
        draw_table(_table(metric, of_metric), [], console)
    if comparison.reference is not None:
        _line(
            f"NEW / OLD is relative to {comparison.reference}: each figure is divided by that of "
            f"{comparison.reference} in the same block.",
            console,
            "dim",
        )
    for sentence in reasons(comparison):
        _line(sentence, console)
    console.print()
    _line(verdict_sentence(comparison), console, "bold")
    if comparison.winners:
        _line(standings_sentence(comparison.winners), console)
    if comparison.disagreements:
        console.print()
        draw_table(_disagreement_table(comparison.disagreements), [], console)
    for notice in comparison.notices:
        _line(notice, console, "yellow")


def _versions(race: ComparedRace) -> str:
    server = race.versions.get("server")
    return f"  ({server})" if server else ""


def _table(metric: Metric, cells: list[CellComparison]) -> Table:
    unit = f", {metric.unit}" if metric.unit else ""
    side = "server " if cells[0].side == "server" and metric is PRIMARY else ""
    where = cell_words([compared.cell for compared in cells])
    rows = [
        [
            compared.cell.contender,
            where[compared.cell.id],
            f"{value_of(compared.old)}\n{interval_of(compared.old)}",
            f"{value_of(compared.new)}\n{interval_of(compared.new)}",
            _change(compared),
            compared.verdict,
        ]
        for compared in cells
    ]
    header = ["design", "cell", "OLD", "NEW", "NEW / OLD", "verdict"]
    return plain_table(f"{side}{metric.label}{unit}", "", header, rows)


def _change(compared: CellComparison) -> str:
    if compared.value is None or compared.low is None or compared.high is None:
        return "–"
    if compared.scale == "ratio":
        return f"{compared.value:.3f}\n{compared.low:.3f}–{compared.high:.3f}"
    half = max((compared.high - compared.low) / 2, 1e-12)
    parts = [short(end, half) for end in (compared.value, compared.low, compared.high)]
    return f"{'+' if compared.value > 0 else ''}{parts[0]}\n{parts[1]} to {parts[2]}"


def _disagreement_table(disagreements: list[Disagreement]) -> Table:
    rows = [[one.where, one.what, one.old, one.new] for one in disagreements]
    title = "changed ranks by server CPU per request, and verdicts on claims"
    return plain_table(title, "", ["where", "design or claim", "OLD", "NEW"], rows)


def reasons(comparison: RaceComparison) -> list[str]:
    """A line for each verdict that needs a reason."""
    where = cell_words([compared.cell for compared in comparison.cells])
    return [
        f"{compared.cell.contender}, {where[compared.cell.id]}: {compared.verdict}, {compared.why}."
        for compared in comparison.cells
        if compared.why
    ]


def verdict_sentence(comparison: RaceComparison) -> str:
    limit = f"{comparison.threshold * 100:g} %"
    found = [compared for compared in comparison.cells if compared.verdict == comparison.verdict]
    of = plural(len(comparison.cells), "comparison")
    if comparison.verdict == REGRESSION:
        return f"Regression beyond {limit} in {len(found)} of {of}{_in_sittings(comparison)}."
    if comparison.verdict == NO_REGRESSION:
        return f"No regression beyond {limit} in any of {of}{_in_sittings(comparison)}."
    unit = "block" if _are_one_sitting_each(comparison) else "sitting"
    needed = [each.blocks_needed for each in found if each.blocks_needed is not None]
    advice = (
        f' Confirming "no change" needs about {plural(max(needed), unit)} per race.'
        if needed
        else ""
    )
    return f"Undecided: {len(found)} of {of} may or may not be beyond {limit}.{advice} {ONE_RACE}"


def _in_sittings(comparison: RaceComparison) -> str:
    """Limits a verdict on two races of one sitting each to these sittings."""
    return ", in these two sittings" if _are_one_sitting_each(comparison) else ""


def _are_one_sitting_each(comparison: RaceComparison) -> bool:
    return max(comparison.old.sittings, comparison.new.sittings) < 2


def standings_sentence(tables: list[Winners]) -> str:
    """Whether the two races agree on the winner."""
    kinds = {_ahead(each): [one for one in tables if one.won == each.won] for each in tables}
    if len(tables) > 1:
        return f"Standings: {'; '.join(_same_in(of, ahead) for ahead, of in kinds.items())}."
    one, ahead = tables[0], _ahead(tables[0])
    if one.agreement == SAME:
        return f"Standings: the same {ahead}, {one.new}."
    return f"Standings: the {ahead} was {one.old} and is {one.new}; {one.agreement}."


def _same_in(tables: list[Winners], ahead: str) -> str:
    same = sum(each.agreement == SAME for each in tables)
    return f"the same {ahead} in {same} of {plural(len(tables), 'table')}"


def _ahead(winners: Winners) -> str:
    return "winner" if winners.won else "set of the best"


def to_dict(comparison: RaceComparison) -> dict[str, Any]:
    """For `--json`."""
    tables = comparison.winners
    has_winner = any(one.won for one in tables)
    return {
        "verdict": comparison.verdict,
        "exit_status": comparison.exit_status,
        "sentence": verdict_sentence(comparison),
        "threshold_percent": comparison.threshold * 100,
        "reference": comparison.reference,
        "old": _race(comparison.old),
        "new": _race(comparison.new),
        "notices": comparison.notices,
        "cells": [_compared(compared) for compared in comparison.cells],
        "only_old": [_cell(cell) for cell in comparison.matched.only_old],
        "only_new": [_cell(cell) for cell in comparison.matched.only_new],
        "standings": {
            "same_winner": all(one.agreement == SAME for one in tables) if has_winner else None,
            "overall": [asdict(one) for one in tables],
        },
        "moved": [asdict(one) for one in comparison.disagreements],
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
    return {
        "label": compared.cell.label(),
        "contender": compared.cell.contender,
        **{name: getattr(compared.cell, name) for name in AXES},
        **{name: value for name, value in vars(compared).items() if name != "cell"},
        "metric": compared.metric.name,
        "unit": compared.metric.unit,
        "old": asdict(compared.old),
        "new": asdict(compared.new),
    }


def _line(text: str, console: Console, style: str = "") -> None:
    console.print(plain(text, console, style))

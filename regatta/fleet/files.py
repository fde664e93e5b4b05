"""Writes fleet.html and fleet.md, the report on all machines."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from regatta.fleet.fleet import MachineResult
from regatta.fleet.standings import WINS, Standings
from regatta.fleet.tables import fleet_tables, report_of
from regatta.report.page.html import environment
from regatta.report.text.markdown import escape
from regatta.report.text.numbers import plural
from regatta.report.text.table import Table

PAGE, MARKDOWN = "fleet.html", "fleet.md"
STYLE = files("regatta.report.page") / "templates" / "report.css"


def sentence(standings: Standings, outcomes: Sequence[MachineResult]) -> str:
    """The result of the fleet in one line."""
    failed = sum(one.result is None for one in outcomes)
    machines = plural(len(outcomes) - failed, "machine")
    kinds = plural(len(standings.kinds), "kind")
    raced = len(outcomes) - failed
    hold = sum(row.outcome == WINS and row.machines == raced for row in standings.verdicts)
    lost = f"; {plural(failed, 'machine')} failed" if failed else ""
    return (
        f"{machines} of {kinds}: one design wins on all in {hold} of "
        f"{plural(len(standings.verdicts), 'verdict')}{lost}."
    )


def write_fleet(
    folder: Path, title: str, standings: Standings, outcomes: Sequence[MachineResult]
) -> None:
    tables = fleet_tables(standings, outcomes)
    links = {one.name: quote(str(report_of(Path(), one.name))) for one in outcomes if one.result}
    page = environment("regatta.fleet").get_template("fleet.html.j2")
    text = page.render(
        title=title,
        sentence=sentence(standings, outcomes),
        tables=tables,
        links=links,
        style=Markup(STYLE.read_text(encoding="utf-8")),  # noqa: S704  (our own file)
    )
    (folder / PAGE).write_text(text)
    lines = [f"# {escape(title)}", "", escape(sentence(standings, outcomes)), ""]
    for table in tables:
        lines += markdown(table)
    (folder / MARKDOWN).write_text("\n".join(lines))


def markdown(table: Table) -> list[str]:
    return [
        f"## {escape(table.title)}",
        "",
        escape(table.says),
        "",
        f"| {' | '.join(map(escape, table.header))} |",
        "|" + " --- |" * len(table.header),
        *(f"| {' | '.join(map(escape, row))} |" for row in table.rows),
        "",
    ]

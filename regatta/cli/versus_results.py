"""What `regatta versus` prints at its end: a screen, JSON, CSV or Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from regatta.analysis.results import Analysis
from regatta.cli.output import print_json
from regatta.cli.session import RaceSession
from regatta.cli.verdict import command_again, verdict_json
from regatta.compare import RaceComparison
from regatta.compare import to_dict as comparison_json
from regatta.errors import RegattaError, UsageError
from regatta.ledger.read import read_failures
from regatta.ledger.schema import FILE_NAME
from regatta.machine.programs import shown
from regatta.show.build import view_of
from regatta.show.csv import to_csv
from regatta.show.json_summary import to_dict
from regatta.show.markdown import to_markdown
from regatta.versus.against import against_lines
from regatta.versus.screen import print_lines, print_versus, without_figures
from regatta.versus.servers import Server
from regatta.versus.verdict import Verdict
from regatta.versus.verdict_text import print_verdict, verdict_markdown

SCREEN, JSON, CSV, MARKDOWN = "screen", "json", "csv", "markdown"


@dataclass(frozen=True)
class Results:
    folder: Path
    analysis: Analysis
    servers: Sequence[Server]
    looked_at: list[str]
    """What the look before the race found."""
    verdict: Verdict | None
    changed: RaceComparison | None
    """Since a stored race."""


def chosen_form(as_json: bool, as_csv: bool, as_markdown: bool) -> str:
    if as_json + as_csv + as_markdown > 1:
        raise UsageError("--json, --csv and --markdown cannot be combined; choose one")
    return JSON if as_json else CSV if as_csv else MARKDOWN if as_markdown else SCREEN


def show(results: Results, form: str, session: RaceSession) -> None:
    """The exit status is that of a verdict; else 1 if a trial failed."""
    analysis, verdict = results.analysis, results.verdict
    if form == JSON:
        print_json(results_json(results))
    elif form == CSV:
        typer.echo(to_csv(analysis), nl=False)
    elif form == MARKDOWN and verdict is not None:
        typer.echo(verdict_markdown(verdict, analysis, command_again()), nl=False)
    elif form == MARKDOWN:
        typer.echo(to_markdown(view_of(analysis)), nl=False)
    else:
        show_screen(results, session)
    if verdict is not None:
        raise typer.Exit(verdict.exit_status)
    absent = without_figures(analysis, [one.name for one in results.servers])
    failures = read_failures(results.folder / FILE_NAME)
    if absent:
        raise RegattaError("; ".join([*absent, *failures[-1:]]))
    if failures:
        raise RegattaError(
            f"{len(failures)} trials failed and are excluded, the last because {failures[-1]}"
        )


def results_json(results: Results) -> dict[str, Any]:
    found = {**to_dict(results.analysis), "looked_at": results.looked_at}
    if results.verdict is not None:
        found["verdict"] = verdict_json(results.verdict)
    if results.changed is not None:
        found["against"] = comparison_json(results.changed)
    return found


def show_screen(results: Results, session: RaceSession) -> None:
    if results.verdict is None:
        print_versus(results.analysis, results.looked_at, session.console)
    else:
        print_verdict(results.verdict, results.analysis, results.looked_at, session.console)
    if results.changed is not None:
        print_lines(against_lines(results.changed, results.servers), session.console)
    session.say(f"report: {shown(results.folder) / 'report.html'}")

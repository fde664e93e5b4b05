"""What `regatta versus` prints at its end, and `versus --base --head`: a verdict for CI."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import typer

from regatta.errors import RegattaError, UsageError
from regatta.judge.judged import Thresholds, thresholds
from regatta.judge.regression import AGAIN, BASE, HEAD, RegressionVerdict, verdict_of
from regatta.judge.results import Analysis
from regatta.measure.programs import Programs, called_with, shown
from regatta.measure.race.run_plan import Enough
from regatta.record.read import read, read_failures
from regatta.record.schema import FILE_NAME, ledger_path
from regatta.record.study import Study
from regatta.show.build import view_of
from regatta.show.json_summary import to_dict
from regatta.show.markdown import to_markdown
from regatta.show.regression import print_verdict, verdict_markdown
from regatta.show.versus import print_versus, without_figures
from regatta.verbs.output import print_json
from regatta.verbs.servers.servers import Server, read_servers
from regatta.verbs.session import RaceSession


@dataclass(frozen=True)
class Versions:
    """Of one server, before and after a change, and what is a regression."""

    base: str
    head: str
    limits: Thresholds

    @staticmethod
    def read(base: str | None, head: str | None, fail_over: str) -> "Versions | None":
        """None if neither is given; UsageError for a mistake, before anything starts."""
        if (base is None) != (head is None):
            raise UsageError("--base and --head belong together; give both commands")
        if base is None or head is None:
            return None
        return Versions(base, head, thresholds(fail_over))

    def servers(self, others: Sequence[str], programs: Programs) -> list[Server]:
        """The base, itself again, and the head."""
        if others:
            raise UsageError(
                f"{others[0]!r} cannot race beside --base and --head; remove it, or these options"
            )
        found = read_servers((self.base, self.base, self.head), programs.designs, Path.cwd())
        for option, server in (("--base", found[0]), ("--head", found[2])):
            if server.design:
                raise UsageError(f"{option} is a design; give a command with {{port}} in it")
        names = (BASE, AGAIN, HEAD)
        return [replace(server, name=name) for server, name in zip(found, names, strict=True)]

    def enough(self, study: Study) -> Enough:
        """Ends the race when there is a verdict."""

        def enough(path: Path, _: float) -> str | None:
            found = self.verdict(path, study, over=False)
            return f"the verdict is: {found.outcome}" if found.is_final else None

        return enough

    def verdict(self, path: Path, study: Study, over: bool) -> RegressionVerdict:
        """Its looks are planned for the blocks that the time has room for, once that is known."""
        race = read(ledger_path(path))
        most = int(race.meta.get("most_blocks") or study.most_blocks or study.blocks)
        return verdict_of(race, self.limits, most, over)


def verdict_json(verdict: RegressionVerdict) -> dict[str, Any]:
    loads = [
        {
            "judged": load.judged.name,
            "connections": load.cell.connections,
            "rate": load.cell.rate,
            "fail_over": load.threshold,
            "head_over_base": asdict(load.over_base(load.head)),
            "base_again_over_base": asdict(load.over_base(load.floor)),
            "blocks": load.blocks,
            "blocks_needed": load.blocks_needed,
            "outcome": load.outcome,
            "why": load.why,
        }
        for load in verdict.loads
    ]
    return {
        "outcome": verdict.outcome,
        "exit_status": verdict.exit_status,
        "outcomes": verdict.by_name,
        "fail_over": dict(verdict.thresholds),
        "why": verdict.why,
        "missing": verdict.missing,
        "blocks": verdict.blocks,
        "loads": loads,
    }


@dataclass(frozen=True)
class Results:
    folder: Path
    analysis: Analysis
    servers: Sequence[Server]
    looked_at: list[str]
    """What the look before the race found."""
    verdict: RegressionVerdict | None


def show(results: Results, session: RaceSession, as_markdown: bool) -> None:
    """The exit status is that of a verdict; else 1 if a trial failed."""
    analysis, verdict = results.analysis, results.verdict
    if as_markdown and verdict is not None:
        typer.echo(verdict_markdown(verdict, analysis, called_with(*sys.argv[1:])), nl=False)
    elif as_markdown:
        typer.echo(to_markdown(view_of(analysis)), nl=False)
    elif session.as_json:
        print_json(results_json(results))
    else:
        show_screen(results, session)
    if verdict is not None:
        raise typer.Exit(verdict.exit_status)
    absent = without_figures(analysis, [server.name for server in results.servers])
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
    return found


def show_screen(results: Results, session: RaceSession) -> None:
    if results.verdict is None:
        print_versus(results.analysis, results.looked_at, session.console)
    else:
        print_verdict(results.verdict, results.analysis, results.looked_at, session.console)
    session.say(f"report: {shown(results.folder) / 'report.html'}")

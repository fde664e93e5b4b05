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
from regatta.measure.programs import Programs, called_with
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

    def servers(
        self, others: Sequence[str], programs: Programs, folder: Path, shell: bool
    ) -> list[Server]:
        """The base, itself again, and the head."""
        if others:
            raise UsageError(
                f"{others[0]!r} cannot race beside --base and --head; remove it, or these options"
            )
        found = read_servers(
            (self.base, self.base, self.head), programs.designs, folder, shell=shell
        )
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


def show(
    analysis: Analysis,
    looked_at: Sequence[str],
    verdict: RegressionVerdict | None,
    session: RaceSession,
    as_markdown: bool,
) -> None:
    """`looked_at`: what the look before the race found."""
    if as_markdown and verdict is not None:
        typer.echo(verdict_markdown(verdict, analysis, called_with(*sys.argv[1:])), nl=False)
    elif as_markdown:
        typer.echo(to_markdown(view_of(analysis)), nl=False)
    elif session.as_json:
        found = {**to_dict(analysis), "looked_at": looked_at}
        print_json(found | {"verdict": verdict_json(verdict)} if verdict is not None else found)
    elif verdict is None:
        print_versus(analysis, looked_at, session.console)
    else:
        print_verdict(verdict, analysis, looked_at, session.console)


def check(folder: Path, analysis: Analysis, names: Sequence[str]) -> None:
    """RegattaError if one of them has no figures, or a trial failed."""
    absent = without_figures(analysis, names)
    failures = read_failures(folder / FILE_NAME)
    if absent:
        raise RegattaError("; ".join([*absent, *failures[-1:]]))
    if failures:
        raise RegattaError(
            f"{len(failures)} trials failed and are excluded, the last because {failures[-1]}"
        )

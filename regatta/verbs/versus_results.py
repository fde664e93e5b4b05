"""What `regatta versus` prints at its end, and `versus --base --head`: a verdict for CI."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from regatta.errors import RegattaError, UsageError
from regatta.judge.compare.compare import RaceComparison
from regatta.judge.judged import DEFAULT, thresholds
from regatta.judge.results import Analysis
from regatta.judge.verdict import AGAIN, BASE, HEAD, RegressionVerdict, verdict_of
from regatta.measure.programs import called_with, shown
from regatta.measure.race.run_plan import Enough
from regatta.record.read import read, read_failures
from regatta.record.schema import FILE_NAME
from regatta.record.study import Study
from regatta.record.study.find import Design
from regatta.show.build import view_of
from regatta.show.compared import to_dict as comparison_json
from regatta.show.csv import to_csv
from regatta.show.json_summary import to_dict
from regatta.show.markdown import to_markdown
from regatta.show.verdict import print_verdict, verdict_markdown
from regatta.show.versus import print_lines, print_versus, without_figures
from regatta.verbs.against import against_lines
from regatta.verbs.output import print_json
from regatta.verbs.servers.servers import Server, read_servers
from regatta.verbs.servers.study_text import SEARCH_BLOCKS
from regatta.verbs.session import RaceSession

PANEL = "A verdict for CI"
SEARCH_EACH_S, MOST_SEARCHES = 20.0, 12
"""Of the budget for a block of searches, which takes some 8 s, and how many are enough."""


@dataclass(frozen=True)
class VerdictOptions:
    """Nothing is judged unless both commands are given."""

    base: Annotated[
        str | None,
        typer.Option(
            metavar="CMD",
            help="The version before a change, with {port} in it.",
            rich_help_panel=PANEL,
            show_default=False,
        ),
    ] = None
    head: Annotated[
        str | None,
        typer.Option(
            metavar="CMD",
            help="The version after it. --base races twice: its difference from itself is the "
            "floor.",
            rich_help_panel=PANEL,
            show_default=False,
        ),
    ] = None
    fail_over: Annotated[
        str,
        typer.Option(
            metavar="PERCENT",
            help="Exit status 1 if head is shown to be worse than base by more than this, in CPU "
            "per request, p50, p99 or the rate that it holds; 0 if it is shown not to be, in any; "
            "3 if neither. 2% alone is of cpu; the others have their defaults. A difference of "
            "just this much stays undecided: to catch 5%, say 2%.",
            rich_help_panel=PANEL,
        ),
    ] = DEFAULT

    @property
    def asked(self) -> bool:
        if (self.base is None) != (self.head is None):
            raise UsageError("--base and --head belong together; give both commands")
        return self.base is not None

    def search_blocks(self, time_s: float) -> int:
        """A verdict on what is held gets a good third of the time."""
        if not self.asked:
            return SEARCH_BLOCKS
        return max(SEARCH_BLOCKS, min(MOST_SEARCHES, round(time_s / SEARCH_EACH_S)))

    def servers(
        self,
        servers: Sequence[str],
        designs: Sequence[Design],
        folder: Path,
        images: Sequence[Server],
        fewest: int,
    ) -> list[Server]:
        """Those to race: the base, itself again, and the head; else those of the command line."""
        if not self.asked:
            return read_servers(servers, designs, folder, images, fewest)
        if servers or images:
            first = servers[0] if servers else images[0].name
            raise UsageError(
                f"{first!r} cannot race beside --base and --head; remove it, or these options"
            )
        thresholds(self.fail_over)  # refused before anything starts
        words = (str(self.base), str(self.base), str(self.head))
        found = read_servers(words, designs, folder)
        for option, one in (("--base", found[0]), ("--head", found[2])):
            if one.design:
                raise UsageError(f"{option} is a design; give a command with {{port}} in it")
        return [
            replace(one, name=name) for one, name in zip(found, (BASE, AGAIN, HEAD), strict=True)
        ]

    def looked_at(self, study: Study) -> Study:
        """What is started once before the race: the base is, so base again need not be."""
        return study.but(cells=tuple(cell for cell in study.cells if cell.contender != AGAIN))

    def check_answers(self, differing: Mapping[str, str]) -> None:
        """RegattaError if head answers otherwise than base."""
        if HEAD in differing:
            raise RegattaError(
                f"not comparable: head {differing[HEAD]}; race them all the same with "
                "--answers-may-differ"
            )

    def enough(self, study: Study) -> Enough:
        """Ends the race when there is a verdict."""

        def enough(path: Path, _: float) -> str | None:
            found = self.verdict(path, study, over=False)
            return f"the verdict is: {found.outcome}" if found.is_final else None

        return enough

    def verdict(self, path: Path, study: Study, over: bool) -> RegressionVerdict:
        """Its looks are planned for the blocks that the time has room for, once that is known."""
        race = read(path)
        most = int(race.meta.get("most_blocks") or study.most_blocks or study.blocks)
        return verdict_of(race, thresholds(self.fail_over), most, over)


def verdict_json(verdict: RegressionVerdict) -> dict[str, Any]:
    loads = [
        {
            "judged": one.judged.name,
            "connections": one.cell.connections,
            "rate": one.cell.rate,
            "fail_over": one.threshold,
            "head_over_base": asdict(one.over_base(one.head)),
            "base_again_over_base": asdict(one.over_base(one.floor)),
            "blocks": one.blocks,
            "blocks_needed": one.blocks_needed,
            "outcome": one.outcome,
            "why": one.why,
        }
        for one in verdict.loads
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


def command_again() -> str:
    """This command, to repeat it."""
    return called_with(*sys.argv[1:])


SCREEN, JSON, CSV, MARKDOWN = "screen", "json", "csv", "markdown"


@dataclass(frozen=True)
class Results:
    folder: Path
    analysis: Analysis
    servers: Sequence[Server]
    looked_at: list[str]
    """What the look before the race found."""
    verdict: RegressionVerdict | None
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

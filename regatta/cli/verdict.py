"""`regatta versus --base --head`: a verdict on two versions, for CI."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from regatta.errors import RegattaError, UsageError
from regatta.ledger.read import read
from regatta.machine.programs import called_with
from regatta.race.run_plan import Enough
from regatta.study import Study
from regatta.study.design import Design
from regatta.versus.judged import DEFAULT, thresholds
from regatta.versus.servers import Server, read_servers
from regatta.versus.study_text import SEARCH_BLOCKS
from regatta.versus.verdict import AGAIN, BASE, HEAD, Verdict, verdict_of

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

    def verdict(self, path: Path, study: Study, over: bool) -> Verdict:
        """Its looks are planned for the blocks that the time has room for, once that is known."""
        race = read(path)
        most = int(race.meta.get("most_blocks") or study.most_blocks or study.blocks)
        return verdict_of(race, thresholds(self.fail_over), most, over)


def verdict_json(verdict: Verdict) -> dict[str, Any]:
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

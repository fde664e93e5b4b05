"""A group of cells with its number and its published figures, for paper reports."""

from collections.abc import Sequence
from dataclasses import dataclass

from regatta.analysis.results import Analysis, Group
from regatta.ledger.cell import PROCESS
from regatta.report.paper.published import Published, published


@dataclass(frozen=True)
class PaperGroup:
    analysis: Analysis
    group: Group
    number: str
    """Its number; empty if there is only one group."""
    known: Sequence[Published]
    """All published figures of the race's claims."""

    @property
    def where(self) -> str:
        """Suffix of a title that names the group; empty if there is only one."""
        return f"; {self.group.title}" if self.number else ""

    @property
    def is_whole(self) -> bool:
        """Whether whole processes were counted, not only the load."""
        return self.group.facts.get("scope") == PROCESS


def paper_groups(analysis: Analysis) -> list[PaperGroup]:
    known = published(analysis)
    several = len(analysis.groups) > 1
    return [
        PaperGroup(analysis, group, f"{number}" if several else "", known)
        for number, group in enumerate(analysis.groups, start=1)
    ]

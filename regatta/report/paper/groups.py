"""A group of cells with what a report on paper says beside it."""

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
    """Among several; empty for a lone one."""
    known: Sequence[Published]
    """All that anybody published of the race's claims."""

    @property
    def where(self) -> str:
        """What sets it apart, as the end of a title; empty for a lone one."""
        return f"; {self.group.title}" if self.number else ""

    @property
    def is_whole(self) -> bool:
        """Whether whole processes were counted, and not the load alone."""
        return self.group.facts.get("scope") == PROCESS


def paper_groups(analysis: Analysis) -> list[PaperGroup]:
    known = published(analysis)
    several = len(analysis.groups) > 1
    return [
        PaperGroup(analysis, group, f"{number}" if several else "", known)
        for number, group in enumerate(analysis.groups, start=1)
    ]

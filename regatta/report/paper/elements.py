"""The elements of a paper report as plain data. All text is untrusted; every writer escapes it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from regatta.analysis.estimates import Estimate

Spec = dict[str, Any]
"""Vega-Lite."""


@dataclass(frozen=True)
class Column:
    title: str
    source: str = ""
    """The source of published figures; empty if they were measured here."""


@dataclass(frozen=True)
class Row:
    label: str
    unit: str
    """Empty for a plain number."""
    figures: tuple[Estimate | None, ...]
    """One for each column; None if it was not published."""


@dataclass(frozen=True)
class PaperTable:
    name: str
    """Base name of its files and of its LaTeX label."""
    title: str
    says: str
    """What the reader must know to read it."""
    head: str
    """Of the rows."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def parts(self, most: int) -> Iterator["PaperTable"]:
        """Splits it into tables of at most so many columns.

        Published columns stay in the part of the design that they belong to, if they fit.
        """
        starts = list(self._starts(most))
        for number, (start, end) in enumerate(pairwise([*starts, len(self.columns)]), start=1):
            columns = slice(start, end)
            is_last = number == len(starts)
            yield replace(
                self,
                name=self.name if number == 1 else f"{self.name}-{number}",
                title=self.title
                if len(starts) == 1
                else f"{self.title} ({number} of {len(starts)})",
                says=self.says if is_last else "",
                columns=self.columns[columns],
                rows=tuple(replace(row, figures=row.figures[columns]) for row in self.rows),
            )

    def _starts(self, most: int) -> Iterator[int]:
        """The first column of each part."""
        ours = [at for at, column in enumerate(self.columns) if not column.source]
        begin = 0
        yield begin
        for start, end in pairwise([*ours, len(self.columns)]):
            if end - begin > most and start > begin:
                begin = start
                yield begin
            while end - begin > most:
                begin += most
                yield begin


@dataclass(frozen=True)
class PlotPanel:
    """One quantity of a plot."""

    label: str
    unit: str
    spec: Spec
    """Without configuration, as wide as its container."""


@dataclass(frozen=True)
class Plot:
    """Panels that are read side by side."""

    name: str
    title: str
    says: str
    panels: tuple[PlotPanel, ...]


@dataclass(frozen=True)
class Section:
    title: str
    text: tuple[str, ...] = ()
    """Paragraphs."""
    tables: tuple[PaperTable, ...] = ()
    plots: tuple[Plot, ...] = ()


@dataclass(frozen=True)
class Document:
    title: str
    text: tuple[str, ...] = ()
    """Paragraphs before the first section."""
    sections: tuple[Section, ...] = field(default_factory=tuple)

    @property
    def tables(self) -> list[PaperTable]:
        return [table for section in self.sections for table in section.tables]

    @property
    def plots(self) -> list[Plot]:
        return [plot for section in self.sections for plot in section.plots]


def file_name(*parts: object) -> str:
    """Safe in a path, a URL and LaTeX for any contender name."""
    return re.sub(r"[^a-zA-Z0-9]+", "-", "-".join(map(str, parts))).strip("-")

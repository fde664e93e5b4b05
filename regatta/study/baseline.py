"""`[baseline]`: the contender that the others are compared with, and published figures."""

from collections.abc import Sequence
from typing import Annotated, Any

from regatta.ledger.cell import Cell
from regatta.study.limits import MAX_STEP
from regatta.study.toml_table import Text, TomlTable, among, read, whole


class BaselineTable(TomlTable):
    """Reports subtract this contender's server CPU time from all others."""

    contender: Annotated[str, among("raced")]
    published: Text | None = None
    """A CSV file (regatta/study/published_csv.py), relative to the study's folder."""
    published_at: Annotated[int, whole(0, MAX_STEP)] | None = None
    """The step of the axis that the figures belong to; None: all steps."""


def read_baseline(content: Any, cells: Sequence[Cell]) -> BaselineTable | None:
    raced = sorted({cell.contender for cell in cells})
    return None if content is None else read(BaselineTable, content, "baseline", raced=raced)

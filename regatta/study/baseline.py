"""`[baseline]`: the contender that all others are measured against, and published figures."""

from collections.abc import Sequence
from typing import Annotated, Any

from regatta.ledger.cell import Cell
from regatta.study.form import Form, Text, among, read, whole
from regatta.study.limits import MAX_STEP


class BaselineForm(Form):
    """Reports subtract this contender's server CPU time from everybody's."""

    contender: Annotated[str, among("raced")]
    published: Text | None = None
    """A CSV file, from the study's folder (regatta/published.py); its figures stand beside ours."""
    published_at: Annotated[int, whole(0, MAX_STEP)] | None = None
    """The step of the axis that they belong to; None: all."""


def read_baseline(content: Any, cells: Sequence[Cell]) -> BaselineForm | None:
    raced = sorted({cell.contender for cell in cells})
    return None if content is None else read(BaselineForm, content, "baseline", raced=raced)

"""A table as CSV: a line for each figure, with the ends of its interval."""

from regatta.report.csv import written
from regatta.report.paper.elements import PaperTable

HEADER = ("metric", "unit", "column", "source", "value", "low", "high", "trials", "state")


def table_csv(table: PaperTable) -> str:
    """`source`: of a published figure; empty if measured here."""
    return written(
        HEADER,
        (
            {"metric": row.label, "unit": row.unit, "column": column.title}
            | {"source": column.source, **vars(estimate)}
            for row in table.rows
            for column, estimate in zip(table.columns, row.figures, strict=True)
            if estimate is not None
        ),
    )

"""A table: a row for each run with a column for each metric, the reverse, or a row for each figure.

Headings say what columns hold. Columns of text, and those that name a design, a number of
connections and the like, distinguish rows; other columns are not checked.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from regatta.errors import UsageError
from regatta.review.figures import Figure, Reading, Record, Unread
from regatta.review.numbers import NUMBER, parse_number, point_of
from regatta.review.reading.headings import (
    LONGEST_KEY,
    MEANS,
    NOTES,
    RUN_NUMBERS,
    SPREADS,
    UNITS,
    Column,
    column_of,
    runs_under,
    words,
)
from regatta.review.reading.to_figure import figure_of
from regatta.review.reading.units import in_column_unit, in_unit

FORM = "table"
DELIMITERS = ",;\t"
MOST_ROWS = 100_000
MOST_COLUMNS = 200
METRIC, VALUE = "metric", "value"
NO_KEYS = NOTES | UNITS | RUN_NUMBERS | {METRIC, VALUE}
CELL = re.compile(
    rf"(?P<number>{NUMBER}(?:[eE][+-]?\d{{1,3}})?)\s*(?P<unit>[^\d\s±+-][^\d±+-]*?)?\s*"
    r"(?P<spread>(?:±|\+/?-).*)?"
)
NOTHING = frozenset(
    ("", "-", "–", "—", "n/a", "na", "nan", "none", "null", "?")
    + ("not supported", "not counted", "failed")
)
Numbered = tuple[int, list[str]]
"""A row with the number of the line where it begins."""


@dataclass
class Row:
    """A record while it is read: in a table with a row for each figure it takes several rows."""

    line: int
    keys: Mapping[str, str]
    repeated: bool
    column: int | None = None
    figures: dict[str, Figure] = field(default_factory=dict)


def read_table(file: str, lines: Sequence[str]) -> Reading | None:
    """Reads CSV. None if no heading is known."""
    return table_of(file, list(rows_of(file, lines)))


def table_of(file: str, rows: Sequence[Numbered]) -> Reading | None:
    """The first row has the headings."""
    if not rows:
        return None
    line, header = rows[0][0], [cell.strip() for cell in rows[0][1]]
    names = [heading.lower() for heading in header]
    table = Table(file, line, header, rows[1:])
    if METRIC in names and VALUE in names:
        return table.figure_rows(names.index(METRIC), names.index(VALUE))
    if table.metrics:
        return table.run_rows()
    found = table.run_columns()
    return found if found.records or found.unread else None


def rows_of(file: str, lines: Sequence[str]) -> Iterator[Numbered]:
    """Each row with the number of its first line, without comments and empty lines."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(
        ("" if line.startswith("#") else line for line in lines), delimiter=delimiter
    )
    line = count = 0
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UsageError(f"{file}:{reader.line_num}: {error}; is this a table?") from error
        start, line = line + 1, reader.line_num
        if not row:
            continue
        count += 1
        check_size(file, start, count, row)
        yield start, row


def check_size(file: str, line: int, rows: int, row: Sequence[str]) -> None:
    if rows > MOST_ROWS or len(row) > MOST_COLUMNS:
        raise UsageError(
            f"{file}:{line}: a table may have {MOST_ROWS:,} rows and {MOST_COLUMNS} columns; "
            "shorten it"
        )


class Table:
    def __init__(
        self, file: str, line: int, header: Sequence[str], rows: Sequence[Numbered]
    ) -> None:
        self.file = file
        self.line = line
        self.header = header
        self.rows = rows
        columns = [column_of(index, heading) for index, heading in enumerate(header)]
        self.metrics = [column for column in columns if column.quantity]
        self.keys = [column for column in columns if column.key or self._is_text(column)]
        self.spread = any(SPREADS.fullmatch(words(heading)) for heading in header)
        self.unit_at = next((at for at, text in enumerate(header) if words(text) in UNITS), None)
        self.unread: list[Unread] = []

    def _is_text(self, column: Column) -> bool:
        """A column of words distinguishes rows, whatever its heading."""
        if column.quantity or words(column.heading) in NO_KEYS:
            return False
        cells = [cell_at(row, column.index) for _, row in self.rows]
        return any(cell for cell in cells) and not any(parse_number(cell) for cell in cells)

    def run_rows(self) -> Reading:
        """A row for each run."""
        cells = [cell_at(row, one.index) for _, row in self.rows for one in self.metrics]
        point, found = point_of(numbers_in(cells)), []
        for line, row in self.rows:
            record = Row(line, self.keys_of(row), self.spread)
            for column in self.metrics:
                self.read_cell(record, column, cell_at(row, column.index), line, point)
            found.append(record)
        return self.reading(found)

    def figure_rows(self, metric_at: int, value_at: int) -> Reading:
        """A row for each figure: rows with equal keys are of one run, until a metric repeats."""
        cells = [cell_at(row, value_at) for _, row in self.rows]
        point, found = point_of(numbers_in(cells)), []
        newest: dict[tuple[str, ...], Row] = {}
        for line, row in self.rows:
            metric = self.metric_in(row, metric_at)
            if metric.quantity is None:
                continue
            keys = self.keys_of(row)
            same = tuple(keys.values())
            record = newest.get(same)
            if record is None or metric.quantity.name in record.figures:
                record = newest[same] = Row(line, keys, self.spread)
                found.append(record)
            self.read_cell(record, metric, cell_at(row, value_at), line, point)
        return self.reading(found)

    def run_columns(self) -> Reading:
        """A column for each run; the first column names the metrics."""
        rows = [(line, row, self.metric_in(row, 0)) for line, row in self.rows]
        metrics = [one for one in rows if one[2].quantity]
        runs = runs_under(self.header)
        cells = [cell_at(row, index) for _, row, _ in metrics for index in runs]
        point, found = point_of(numbers_in(cells)), []
        for index, told in runs.items():
            if not any(numbers_in([cell_at(row, index) for _, row, _ in metrics])):
                continue
            keys = {one.key: cell_at(row, index)[:LONGEST_KEY] for _, row, one in rows if one.key}
            is_mean = self.spread or words(self.header[index]) in MEANS
            record = Row(self.line, {**told, **keys}, is_mean, index)
            for line, row, metric in metrics:
                self.read_cell(record, metric, cell_at(row, index), line, point)
            found.append(record)
        return self.reading(found)

    def metric_in(self, row: list[str], at: int) -> Column:
        """The metric of this row, in the unit that the column of units names."""
        column = column_of(at, cell_at(row, at))
        if column.quantity is None or self.unit_at is None:
            return column
        unit = cell_at(row, self.unit_at)
        return replace(column, quantity=in_column_unit(column.quantity, unit))

    def keys_of(self, row: list[str]) -> dict[str, str]:
        """If two columns mean the same key, the second is named by its heading."""
        keys: dict[str, str] = {}
        for column in self.keys:
            name = column.heading if column.key in keys else column.key or column.heading
            keys[name] = cell_at(row, column.index)[:LONGEST_KEY]
        return keys

    def read_cell(self, row: Row, column: Column, text: str, line: int, point: str) -> None:
        if is_nothing(text):
            return
        cell = CELL.fullmatch(text)
        number = parse_number(cell["number"], point) if cell else None
        quantity = in_unit(column.quantity, (cell["unit"] or "").strip()) if cell else None
        if cell is None or number is None or quantity is None:
            self.unread.append(Unread(line, column.heading, text))
            return
        row.repeated |= cell["spread"] is not None
        figure = figure_of(quantity, number, cell["number"], line)
        row.figures.setdefault(figure.name, figure)

    def reading(self, rows: list[Row]) -> Reading:
        records = tuple(
            Record(self.file, row.line, row.keys, row.figures, row.repeated, self.line, row.column)
            for row in rows
            if row.figures
        )
        return Reading(self.file, FORM, records, tuple(self.unread))


def cell_at(row: list[str], index: int) -> str:
    return row[index].strip() if index < len(row) else ""


def is_nothing(text: str) -> bool:
    """Also without the angle brackets of perf's words, which rendered Markdown drops."""
    return text.startswith("<not ") or " ".join(text.lower().strip("<>").split()) in NOTHING


def numbers_in(cells: list[str]) -> Iterator[str]:
    return (found["number"] for cell in cells if (found := CELL.fullmatch(cell)))

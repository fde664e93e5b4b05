"""A table: a row for each run with a column for each metric, the reverse, or a row for each figure.

Headings say what columns hold. Columns of text, and those that name a design, a number of
connections and the like, distinguish rows; other columns are not checked.

In Markdown it is a row of headings, a row of dashes, and rows until one has no pipe. `\\|` is a
pipe within a cell, and emphasis marks are not part of a number or a name.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import unescape

from regatta.errors import UsageError
from regatta.teach.review.figures import (
    NUMBER,
    Reading,
    Record,
    ReportedFigure,
    figure_of,
    merged,
    parse_number,
    point_of,
)
from regatta.teach.review.names import in_column_unit, in_unit
from regatta.teach.review.reading.headings import (
    LONGEST_KEY,
    MEANS,
    NOTES,
    RUN_NUMBERS,
    SPREADS,
    UNITS,
    TableColumn,
    column_of,
    runs_under,
    words,
)

DELIMITERS = ",;\t"
MOST_ROWS, MOST_COLUMNS = 100_000, 200
LONGEST_LINE, LONGEST_SHOWN, LONGEST_ROW_SHOWN = 20_000, 40, 60
METRIC, VALUE = "metric", "value"
UNCHECKED = "The row was not checked."
NO_KEYS = NOTES | UNITS | RUN_NUMBERS | {METRIC, VALUE}
CELL = re.compile(
    rf"(?P<number>{NUMBER}(?:[eE][+-]?\d{{1,3}})?)\s*(?P<unit>[^\d\s±+-][^\d±+-]*?)?\s*"
    r"(?P<spread>(?:±|\+/?-).*)?"
)
NOTHING = frozenset(
    ("", "-", "–", "—", "n/a", "na", "nan", "none", "null", "?")
    + ("not supported", "not counted", "failed")
)
RULE = re.compile(r"[\s>|:-]+")
DASHES = re.compile(r":?-+:?")
PIECE = re.compile(r"\\.|[^\\|]+|[\\|]")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
MARKS = re.compile(r"\*+|`+|~~|<br */?>|(?<!\w)_+|(?<!_)_++(?!\w)")
Numbered = tuple[int, list[str]]
"""A row with the number of the line where it begins."""


Figures = dict[str, ReportedFigure]
Cell = tuple[Record, Figures, TableColumn, str, int]
"""Its record, which these figures become part of, what it holds, its text and its line."""


def read_csv(file: str, lines: Sequence[str]) -> Reading | None:
    """None if no heading is known."""
    found = table_of(file, list(rows_of(file, lines)))
    return found and replace(found, taken=frozenset(range(1, len(lines) + 1)))


def read_markdown(file: str, lines: Sequence[str]) -> Reading:
    """Reads all tables of the file."""
    found: list[Reading] = []
    for at, end in tables_in(lines):
        header = cells_of(lines[at])
        rows = [(index + 1, cells_of(lines[index])) for index in range(at + 2, end)]
        for number, row in rows:
            check_size(file, number, number - at - 2, row)
        # A short row is valid: its last cells are empty.
        whole = [one for one in rows if len(one[1]) <= len(header)]
        if table := table_of(file, [(at + 1, header), *whole]):
            torn = tuple(
                (number, f"{len(row)} cells under {len(header)} headings: `{start}`. {UNCHECKED}")
                for number, row in rows
                if len(row) > len(header) and (start := " | ".join(row)[:LONGEST_ROW_SHOWN])
            )
            found.append(replace(table, taken=frozenset(range(at + 1, end + 1)), torn=torn))
    return merged(file, "Markdown table", found)


def table_of(file: str, rows: Sequence[Numbered]) -> Reading | None:
    """The first row has the headings."""
    if not rows:
        return None
    table = FigureTable(file, rows[0][0], [cell.strip() for cell in rows[0][1]], rows[1:])
    names = [heading.lower() for heading in table.header]
    if is_long := METRIC in names and VALUE in names:
        cells = list(table.figure_rows(names.index(METRIC), names.index(VALUE)))
    else:
        cells = list(table.run_rows() if table.metrics else table.run_columns())
    point = point_of(numbers_in([cell[3] for cell in cells]))
    records: dict[int, Record] = {}
    spread: set[int] = set()
    unread = []
    for record, figures, column, text, line in cells:
        records[id(figures)] = record
        cell = CELL.fullmatch(text)
        number = parse_number(cell["number"], point) if cell else None
        quantity = in_unit(column.quantity, (cell["unit"] or "").strip()) if cell else None
        if cell and number and quantity:
            spread |= {id(figures)} if cell["spread"] is not None else set()
            figure = figure_of(quantity, number, cell["number"], line)
            figures.setdefault(figure.name, figure)
        elif not is_nothing(text):
            under = column.heading[:LONGEST_SHOWN]
            unread.append((line, f"`{text[:LONGEST_SHOWN]}` under `{under}` cannot be read."))
    found = tuple(
        replace(record, repeated=record.repeated or place in spread)
        for place, record in records.items()
        if record.figures
    )
    is_known = is_long or table.metrics or found or unread
    return Reading(file, "table", found, unread=tuple(unread)) if is_known else None


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
        if row:
            count += 1
            check_size(file, start, count, row)
            yield start, row


def check_size(file: str, line: int, rows: int, row: Sequence[str]) -> None:
    if rows > MOST_ROWS or len(row) > MOST_COLUMNS:
        raise UsageError(
            f"{file}:{line}: a table may have {MOST_ROWS:,} rows and {MOST_COLUMNS} columns; "
            "shorten it"
        )


class FigureTable:
    def __init__(
        self, file: str, line: int, header: Sequence[str], rows: Sequence[Numbered]
    ) -> None:
        self.file, self.line, self.header, self.rows = file, line, header, rows
        columns = [column_of(index, heading) for index, heading in enumerate(header)]
        self.metrics = [column for column in columns if column.quantity]
        others = [column for column in columns if not column.quantity]
        self.keys = [column for column in others if column.key or self.is_text(column)]
        self.spread = any(SPREADS.fullmatch(words(one.heading)) for one in others)
        self.unit_at = next((at for at, text in enumerate(header) if words(text) in UNITS), None)

    def record(
        self, line: int, keys: Mapping[str, str], column: int | None = None
    ) -> tuple[Record, Figures]:
        figures: Figures = {}
        is_mean = column is not None and words(self.header[column]) in MEANS
        spread = self.spread or is_mean
        return Record(self.file, line, keys, figures, spread, self.line, column), figures

    def is_text(self, column: TableColumn) -> bool:
        """A column of words distinguishes rows, whatever its heading."""
        cells = [cell_at(row, column.index) for _, row in self.rows]
        named = words(column.heading) not in NO_KEYS
        return named and any(cells) and not any(parse_number(cell) for cell in cells)

    def run_rows(self) -> Iterator[Cell]:
        """A row for each run."""
        for line, row in self.rows:
            record = self.record(line, self.keys_of(row))
            for column in self.metrics:
                yield *record, column, cell_at(row, column.index), line

    def figure_rows(self, metric_at: int, value_at: int) -> Iterator[Cell]:
        """A row for each figure: rows with equal keys are of one run, until a metric repeats."""
        newest: dict[tuple[str, ...], tuple[tuple[Record, Figures], set[str]]] = {}
        for line, row in self.rows:
            metric = self.metric_in(row, metric_at)
            if metric.quantity is None:
                continue
            keys = self.keys_of(row)
            same, name = tuple(keys.values()), metric.quantity.name
            if same not in newest or name in newest[same][1]:
                newest[same] = self.record(line, keys), set()
            newest[same][1].add(name)
            yield *newest[same][0], metric, cell_at(row, value_at), line

    def run_columns(self) -> Iterator[Cell]:
        """A column for each run; the first column names the metrics."""
        rows = [(line, row, self.metric_in(row, 0)) for line, row in self.rows]
        metrics = [one for one in rows if one[2].quantity]
        for index, told in runs_under(self.header).items():
            if not any(numbers_in([cell_at(row, index) for _, row, _ in metrics])):
                continue
            keys = {one.key: cell_at(row, index)[:LONGEST_KEY] for _, row, one in rows if one.key}
            record = self.record(self.line, {**told, **keys}, index)
            for line, row, metric in metrics:
                yield *record, metric, cell_at(row, index), line

    def metric_in(self, row: list[str], at: int) -> TableColumn:
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


def cell_at(row: list[str], index: int) -> str:
    return row[index].strip() if index < len(row) else ""


def is_nothing(text: str) -> bool:
    """Also without the angle brackets of perf's words, which rendered Markdown drops."""
    return text.startswith("<not ") or " ".join(text.lower().strip("<>").split()) in NOTHING


def numbers_in(cells: list[str]) -> Iterator[str]:
    return (found["number"] for cell in cells if (found := CELL.fullmatch(cell)))


def tables_in(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """For each table in Markdown, the index of its headings and that of the line after it."""
    at = 0
    while at + 1 < len(lines):
        if not is_table(lines[at], lines[at + 1]):
            at += 1
            continue
        end = at + 2
        while end < len(lines) and has_pipe(lines[end]):
            end += 1
        yield at, end
        at = end


def is_table(header: str, rule: str) -> bool:
    """Whether the second line has a run of dashes for each heading of the first."""
    if not (has_pipe(header) and has_pipe(rule) and RULE.fullmatch(rule)):
        return False
    dashes = cells_of(rule)
    return len(dashes) == len(cells_of(header)) and all(map(DASHES.fullmatch, dashes))


def has_pipe(line: str) -> bool:
    return "|" in line and len(line) <= LONGEST_LINE


def cells_of(line: str) -> list[str]:
    """The cells between the outer pipes, if there are any, as a reader sees them."""
    cells = [""]
    for piece in PIECE.findall(line.strip("> \t") if line.startswith(">") else line.strip()):
        if piece == "|":
            cells.append("")
        else:
            cells[-1] += piece
    first = 1 if not cells[0].strip() else 0
    last = len(cells) - (1 if len(cells) > 1 and not cells[-1].strip() else 0)
    return [
        unescape(MARKS.sub(" ", ESCAPED.sub(r"\1", cell))).strip() for cell in cells[first:last]
    ]

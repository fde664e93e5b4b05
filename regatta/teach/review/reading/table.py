r"""A table with a row for each run and a column for each metric, in CSV or in Markdown.

Headings say what columns hold. Columns of text, and those that name a design, a number of
connections and the like, distinguish rows; other columns are not checked.

In Markdown it is a row of headings, a row of dashes, and rows until one has no pipe. `\|` is a
pipe within a cell, and emphasis marks are not part of a number or a name.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
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
from regatta.teach.review.names import Quantity, heading_of, in_unit

KEYS = {
    word: key
    for key, words in {
        "design": "design server implementation variant approach model strategy framework language",
        "connections": "connections clients conns concurrency n",
        "side": "side role",
    }.items()
    for word in words.split()
}
"""Names that people give to columns with a special meaning."""
PARAMETERS = frozenset(("threads", "workers", "requests", "rate", "cpus", "port", "size", "pool"))
"""Numbers that distinguish rows."""
RUN = ("run", "trial", "repetition", "rep", "iteration", "block", "sample")
NOTES = ("note", "notes", "comment", "comments", "remark", "unit", "units", "line", "source")
NO_KEYS = frozenset(RUN + NOTES)
SPREAD = re.compile(r".*\b(?:sd|std|stddev|stdev|sem|ci|ci95|error|variance|low|high|runs)")
LONGEST_KEY = 200
DELIMITERS = ",;\t"
MOST_ROWS, MOST_COLUMNS = 100_000, 200
LONGEST_LINE, LONGEST_SHOWN, LONGEST_ROW_SHOWN = 20_000, 40, 60
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


def words(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", heading.lower()).strip()


def column_of(heading: str) -> tuple[Quantity | None, str]:
    """The quantity and the key. A heading that names a key, such as `rate`, is not a metric."""
    name = words(heading)
    key = KEYS.get(name) or (name if name in PARAMETERS else "")
    return None if key else heading_of(heading), key


def read_csv(file: str, lines: Sequence[str]) -> Reading | None:
    """None if no heading is known."""
    rows = list(rows_of(file, lines))
    # Of perf stat -x or -I every line begins with a number.
    found = None if rows and parse_number(rows[0][1][0]) else table_of(file, rows)
    return found and replace(found, taken=frozenset(range(1, len(lines) + 1)))


def read_markdown(file: str, lines: Sequence[str]) -> Reading:
    found: list[Reading] = []
    for at, end in tables_in(lines):
        header = cells_of(lines[at])
        rows = [(index + 1, cells_of(lines[index])) for index in range(at + 2, end)]
        for number, row in rows:
            check_size(file, number, number - at - 2, row)
        # A short row is valid: its last cells are empty.
        fits = [(number, row) for number, row in rows if len(row) <= len(header)]
        if table := table_of(file, [(at + 1, header), *fits]):
            torn = [
                (
                    "torn",
                    number,
                    f"{len(row)} cells under {len(header)} headings: `{start}`. The "
                    "row was not checked.",
                )
                for number, row in rows
                if len(row) > len(header) and (start := " | ".join(row)[:LONGEST_ROW_SHOWN])
            ]
            taken = frozenset(range(at + 1, end + 1))
            found.append(replace(table, taken=taken, odd=(*table.odd, *torn)))
    return merged(file, "Markdown table", found)


def table_of(file: str, rows: Sequence[Numbered]) -> Reading | None:
    """The first row has the headings; None if it names no metric."""
    if not rows:
        return None
    at, header = rows[0][0], [text.strip() for text in rows[0][1]]
    body = [
        (line, [cell_at(row, column) for column in range(len(header))]) for line, row in rows[1:]
    ]
    columns = [column_of(text) for text in header]
    metrics = {column: quantity for column, (quantity, _) in enumerate(columns) if quantity}
    if not metrics:
        return None
    # Columns of words distinguish rows, whatever their headings.
    keys = {
        column: key
        for column, (quantity, key) in enumerate(columns)
        if not quantity and (key or is_text(header[column], [row[column] for _, row in body]))
    }
    spread = any(
        SPREAD.fullmatch(words(text)) for at, text in enumerate(header) if at not in metrics
    )
    point = point_of(numbers_in(row[column] for _, row in body for column in metrics))
    found: list[Record] = []
    odd = []
    for line, row in body:
        figures: dict[str, ReportedFigure] = {}
        repeated = spread
        for column, quantity in metrics.items():
            text = row[column]
            cell = CELL.fullmatch(text)
            number = parse_number(cell["number"], point) if cell else None
            known = in_unit(quantity, (cell["unit"] or "").strip()) if cell else None
            if cell and number and known:
                repeated |= cell["spread"] is not None
                figure = figure_of(known, number, cell["number"], line)
                figures.setdefault(figure.name, figure)
            elif not is_nothing(text):
                under = header[column][:LONGEST_SHOWN]
                says = f"`{text[:LONGEST_SHOWN]}` under `{under}` cannot be read."
                odd.append(("unread", line, says))
        if figures:
            named = named_by(keys, header, row)
            found.append(Record(file, line, named, figures, repeated, at))
    return Reading(file, "table", tuple(found), odd=tuple(odd))


def named_by(keys: dict[int, str], header: Sequence[str], row: Sequence[str]) -> dict[str, str]:
    """If two columns mean the same key, the second is named by its heading."""
    named: dict[str, str] = {}
    for column, key in keys.items():
        name = header[column] if not key or key in named else key
        named[name] = row[column][:LONGEST_KEY]
    return named


def is_text(heading: str, cells: Sequence[str]) -> bool:
    is_key = words(heading) not in NO_KEYS
    return is_key and any(cells) and not any(map(parse_number, cells))


def rows_of(file: str, lines: Sequence[str]) -> Iterator[Numbered]:
    """Each row with the number of its first line, without comments and empty lines."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(
        ("" if line.startswith("#") else line for line in lines), delimiter=delimiter
    )
    line = count = 0
    try:
        for row in reader:
            start, line = line + 1, reader.line_num
            if row:
                count += 1
                check_size(file, start, count, row)
                yield start, row
    except csv.Error as error:
        raise UsageError(f"{file}:{reader.line_num}: {error}; is this a table?") from error


def check_size(file: str, line: int, rows: int, row: Sequence[str]) -> None:
    if rows > MOST_ROWS or len(row) > MOST_COLUMNS:
        raise UsageError(
            f"{file}:{line}: a table may have {MOST_ROWS:,} rows and {MOST_COLUMNS} columns; "
            "shorten it"
        )


def cell_at(row: list[str], index: int) -> str:
    return row[index].strip() if index < len(row) else ""


def is_nothing(text: str) -> bool:
    """Also without the angle brackets of perf's words, which rendered Markdown drops."""
    return text.startswith("<not ") or " ".join(text.lower().strip("<>").split()) in NOTHING


def numbers_in(cells: Iterable[str]) -> Iterator[str]:
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
    return 0 < len(dashes) == len(cells_of(header)) and all(map(DASHES.fullmatch, dashes))


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

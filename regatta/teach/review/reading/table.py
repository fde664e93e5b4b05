r"""A table: a row for each run with a column for each metric, or the reverse.

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
RUN = "run|trial|repetition|rep|iteration|block|sample"
NO_KEYS = frozenset(f"{RUN}|unit|units|note|notes|comment|comments|remark|line|source".split("|"))
SPREAD = re.compile(r".*\b(?:sd|std|stddev|stdev|sem|ci|ci95|error|variance|low|high|runs)")
COMPUTED = re.compile(
    r"(?:ratios?|change|diff|difference|delta|δ|speedup)\b.*|.*\b(?:ratio|change|diff|difference|delta)\W*|"
    r".+(?:\s/\s|÷|\bvs\b).+|\W+"
)
"""The heading of a column that is computed from others."""
MEANS = frozenset(("mean", "average", "avg", "median"))
RUN_NUMBER = re.compile(rf"(?P<design>.*?)[\s,(_-]*\b(?:{RUN})[\s#_-]*\d+\)?", re.IGNORECASE)
COUNTED = re.compile(r"(\d[\d., ]*?)\s*([a-z]+)")
"""`100 clients`."""
LONGEST_KEY = 200


def words(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", heading.lower()).strip()


def column_of(heading: str) -> tuple[Quantity | None, str]:
    """The quantity and the key. A heading that names a key, such as `rate`, is not a metric."""
    name = words(heading)
    key = KEYS.get(name) or (name if name in PARAMETERS else "")
    return None if key else heading_of(heading), key


def runs_under(header: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """In a table with a column for each run: those columns, and the keys in their headings.

    Means count as runs only if there are no other columns.
    """
    held = [at for at, text in enumerate(header) if at and not is_computed(text)]
    runs = [at for at in held if words(header[at]) not in MEANS]
    if not runs:
        return [(at, {}) for at in held]
    numbers = [whole(header[at]) for at in runs]
    _, key = column_of(header[0])
    # If the first heading does not say what the numbers are, 1, 2, 3 number the runs.
    if key in ("", "design"):
        counted_up = numbers == [str(at + 1) for at in range(len(numbers))]
        key = "" if counted_up or words(header[0]) in NO_KEYS else "connections"
    return [
        (at, ({key: number} if key else {}) if number else keys_in(header[at][:LONGEST_KEY]))
        for at, number in zip(runs, numbers, strict=True)
    ]


def is_computed(heading: str) -> bool:
    """Whether the column holds no run: a ratio of others, a spread, a unit, a note."""
    text, name = heading[:LONGEST_KEY].lower(), words(heading[:LONGEST_KEY])
    return name in NO_KEYS or bool(SPREAD.fullmatch(name) or COMPUTED.fullmatch(text))


def keys_in(heading: str) -> dict[str, str]:
    """The keys in a heading: a repetition, a side, a number of something; else a design."""
    if found := RUN_NUMBER.fullmatch(heading):
        return {"design": found["design"].strip()} if found["design"].strip() else {}
    if heading.lower() in ("server", "client"):
        return {"side": heading.lower()}
    found = COUNTED.fullmatch(heading.lower())
    key = found and (column_of(found[2])[1] or column_of(f"{found[2]}s")[1])
    if found and key and (number := whole(found[1])):
        return {key: number}
    return {"design": heading}


def whole(text: str) -> str:
    """A whole number as plain digits; empty if it is not one."""
    number = parse_number(text)
    return f"{number.value:.0f}" if number and number.value >= 0 and not number.value % 1 else ""


# Headings say what columns hold. Columns of text, and those that name a design, a number of
# connections and the like, distinguish rows; other columns are not checked.
#
# In Markdown it is a row of headings, a row of dashes, and rows until one has no pipe. `\|` is a
# pipe within a cell, and emphasis marks are not part of a number or a name.

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
Cell = tuple[Quantity, str, str, int]
"""What it holds, its heading, its text and its line."""
Run = tuple[Record, list[Cell]]
"""Without its figures, which its cells hold."""


def read_csv(file: str, lines: Sequence[str]) -> Reading | None:
    """None if no heading is known."""
    rows = list(rows_of(file, lines))
    # Of perf stat -x or -I every line begins with a number.
    found = None if rows and parse_number(rows[0][1][0]) else table_of(file, rows)
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
        fits = [one for one in rows if len(one[1]) <= len(header)]
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
    """The first row has the headings."""
    if not rows:
        return None
    at, header = rows[0][0], [text.strip() for text in rows[0][1]]
    body = [(line, [cell_at(row, at) for at in range(len(header))]) for line, row in rows[1:]]
    has_metrics = any(column_of(text)[0] for text in header)
    runs = list((rows_in if has_metrics else columns_in)(file, at, header, body))
    point = point_of(numbers_in(text for _, cells in runs for *_, text, _ in cells))
    found: list[Record] = []
    odd = []
    for record, cells in runs:
        figures: dict[str, ReportedFigure] = {}
        repeated = record.repeated
        for quantity, heading, text, line in cells:
            cell = CELL.fullmatch(text)
            number = parse_number(cell["number"], point) if cell else None
            known = in_unit(quantity, (cell["unit"] or "").strip()) if cell else None
            if cell and number and known:
                repeated |= cell["spread"] is not None
                figure = figure_of(known, number, cell["number"], line)
                figures.setdefault(figure.name, figure)
            elif not is_nothing(text):
                under = heading[:LONGEST_SHOWN]
                says = f"`{text[:LONGEST_SHOWN]}` under `{under}` cannot be read."
                odd.append(("unread", line, says))
        if figures:
            found.append(replace(record, figures=figures, repeated=repeated))
    is_known = has_metrics or found or odd
    return Reading(file, "table", tuple(found), odd=tuple(odd)) if is_known else None


def rows_in(file: str, at: int, header: Sequence[str], body: Sequence[Numbered]) -> Iterator[Run]:
    """A row for each run. Columns of words distinguish rows, whatever their headings."""
    columns = [column_of(text) for text in header]
    keys = {
        column: key
        for column, (quantity, key) in enumerate(columns)
        if not quantity and (key or is_text(header[column], [row[column] for _, row in body]))
    }
    repeated = any(
        SPREAD.fullmatch(words(text)) and not quantity
        for text, (quantity, _) in zip(header, columns, strict=True)
    )
    for line, row in body:
        named: dict[str, str] = {}
        for column, key in keys.items():
            # If two columns mean the same key, the second is named by its heading.
            name = header[column] if not key or key in named else key
            named[name] = row[column][:LONGEST_KEY]
        cells = [
            (quantity, text, cell, line)
            for (quantity, _), text, cell in zip(columns, header, row, strict=True)
            if quantity
        ]
        yield Record(file, line, named, {}, repeated, at), cells


def is_text(heading: str, cells: Sequence[str]) -> bool:
    named = words(heading) not in NO_KEYS
    return named and any(cells) and not any(map(parse_number, cells))


def columns_in(
    file: str, at: int, header: Sequence[str], body: Sequence[Numbered]
) -> Iterator[Run]:
    """A column for each run; the first column names the metrics."""
    rows = [(line, row, *column_of(row[0])) for line, row in body]
    for column, told in runs_under(header):
        cells = [
            (quantity, row[0], row[column], line) for line, row, quantity, _ in rows if quantity
        ]
        if any(numbers_in(cell[2] for cell in cells)):
            named = {key: row[column][:LONGEST_KEY] for _, row, _, key in rows if key}
            repeated = words(header[column]) in MEANS
            yield Record(file, at, {**told, **named}, {}, repeated, at, column), cells


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

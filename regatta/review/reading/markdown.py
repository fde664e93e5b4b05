"""Markdown tables: a row of headings, a row of dashes, and rows until one has no pipe.

`\\|` is a pipe within a cell. Emphasis marks are not part of a number or a name.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape

from regatta.review.figures import Reading, Torn
from regatta.review.reading.table import check_size, table_of

FORM = "Markdown table"
RULE = re.compile(r"[\s>|:-]+")
DASHES = re.compile(r":?-+:?")
PIECE = re.compile(r"\\.|[^\\|]+|[\\|]")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
MARKS = re.compile(r"\*+|`+|~~|<br */?>|(?<!\w)_+|(?<!_)_++(?!\w)")
LONGEST_LINE = 20_000


def read_markdown(file: str, lines: Sequence[str]) -> Reading:
    """Reads all tables of the file."""
    found: list[Reading] = []
    torn: list[Torn] = []
    for at, end in tables_in(lines):
        header = cells_of(lines[at])
        rows = [(index + 1, cells_of(lines[index])) for index in range(at + 2, end)]
        for number, row in rows:
            check_size(file, number, number - at - 2, row)
        # A short row is valid: its last cells are empty.
        whole = [one for one in rows if len(one[1]) <= len(header)]
        table = table_of(file, [(at + 1, header), *whole])
        if table is not None:
            found.append(table)
            torn += [
                Torn(number, tuple(row), len(header))
                for number, row in rows
                if len(row) > len(header)
            ]
    records = tuple(record for table in found for record in table.records)
    unread = tuple(one for table in found for one in table.unread)
    return Reading(file, FORM, records, unread, tuple(torn))


def tables_in(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """For each table, the index of its headings and that of the line after it."""
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
    """The cells between the outer pipes, if there are any; quoted tables begin with `>`."""
    cells, cell = [], ""
    for piece in PIECE.findall(line.lstrip("> \t").rstrip()):
        if piece == "|":
            cells.append(cell)
            cell = ""
        else:
            cell += piece
    cells.append(cell)
    first = 1 if not cells[0].strip() else 0
    last = len(cells) - (1 if len(cells) > 1 and not cells[-1].strip() else 0)
    return [plain(one) for one in cells[first:last]]


def plain(cell: str) -> str:
    """The cell as a reader sees it."""
    return unescape(MARKS.sub(" ", ESCAPED.sub(r"\1", cell))).strip()

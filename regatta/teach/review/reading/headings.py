"""Headings of tables: of columns that hold a metric or a key, and of columns that hold a run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from regatta.teach.review.figures import parse_number
from regatta.teach.review.names import Quantity, heading_of

KEYS = {
    **dict.fromkeys(
        ("design", "server", "implementation", "variant", "approach", "model", "strategy"), "design"
    ),
    **dict.fromkeys(("framework", "language"), "design"),
    **dict.fromkeys(("connections", "clients", "conns", "concurrency", "n"), "connections"),
    **dict.fromkeys(("side", "role"), "side"),
}
"""Names that people give to columns with a special meaning."""
PARAMETERS = frozenset(("threads", "workers", "requests", "rate", "cpus", "port", "size", "pool"))
"""Numbers that distinguish rows."""
NOTES = frozenset(("note", "notes", "comment", "comments", "remark", "line", "source"))
UNITS = frozenset(("unit", "units"))
RUN_NUMBERS = frozenset(("run", "trial", "repetition", "rep", "iteration", "block", "sample"))
SPREADS = re.compile(r".*\b(?:sd|std|stddev|stdev|sem|ci|ci95|error|variance|low|high|runs)")
COMPUTED = frozenset(("ratio", "ratios", "change", "diff", "difference", "delta", "δ", "speedup"))
"""First or last word in the heading of a column computed from others."""
MEANS = frozenset(("mean", "average", "avg", "median"))
OF_ALL = MEANS | {"total", "sum"}
QUOTIENT = re.compile(r"(.+?)\s*(?:/|÷|\bvs\b\.?)\s*(.+)")
NUMBERED_RUN = re.compile(
    rf"(?P<what>.*?)[\s,(_-]*(?<![a-z0-9])(?:{'|'.join(sorted(RUN_NUMBERS))})[\s#_-]*\d+\)?",
    re.IGNORECASE,
)
OF_A_SIDE = re.compile(
    r"(?:(?P<what>.+?)\s*[(\[,:/]\s*)?(?P<side>server|client)\s*[)\]]?", re.IGNORECASE
)
"""`server`, `select (server)`; but `thread-per-client` names no side."""
COUNTED = re.compile(r"(?P<number>\d[\d., ]*?)\s*(?P<word>[a-z]+)|(?P<name>[a-z]+)\W*(?P<of>\d+)")
"""`100 clients`, `n=100`."""
LONGEST_KEY = 200


@dataclass(frozen=True)
class TableColumn:
    """What a column holds: a quantity, a key, or neither."""

    index: int
    heading: str
    quantity: Quantity | None = None
    key: str = ""


def words(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", heading.lower()).strip()


def column_of(index: int, heading: str) -> TableColumn:
    """A heading that names a key, such as `server` or `rate`, is not a metric."""
    name = words(heading)
    key = KEYS.get(name) or (name if name in PARAMETERS else "")
    return TableColumn(index, heading, None if key else heading_of(heading), key)


def runs_under(header: Sequence[str]) -> dict[int, dict[str, str]]:
    """In a table with a column for each run: those columns, and the keys in their headings.

    Means and totals count as runs only if there are no other columns.
    """
    held = [index for index, text in enumerate(header) if index and not is_computed(text, header)]
    runs = [index for index in held if words(header[index]) not in OF_ALL]
    if not runs:
        return {index: {} for index in held}
    numbers = [whole(header[index]) for index in runs]
    key = numbers_are(header[0], numbers)
    return {
        index: ({key: number} if key else {}) if number else keys_in(header[index])
        for index, number in zip(runs, numbers, strict=True)
    }


def is_computed(heading: str, header: Sequence[str]) -> bool:
    """Whether the column holds no run: a ratio of others, a spread, a unit, a note."""
    name, parts = words(heading), re.findall(r"\w+", heading[:LONGEST_KEY].lower())
    if name in NOTES | UNITS or SPREADS.fullmatch(name[:LONGEST_KEY]):
        return True
    if heading and not parts:
        return True  # `%`, `±`
    quotient = QUOTIENT.fullmatch(heading[:LONGEST_KEY])
    if quotient and all(part in header for part in quotient.groups()):
        return True
    return bool(parts) and (parts[0] in COMPUTED or parts[-1] in COMPUTED)


def numbers_are(first: str, numbers: Sequence[str]) -> str:
    """The key that numeric headings belong to; empty if they only number the runs.

    If the first heading does not say what they are, 1, 2, 3 number the runs.
    """
    key, name = column_of(0, first).key, words(first)
    if key and key != "design":
        return key
    counted_up = [str(number) for number in range(1, len(numbers) + 1)]
    is_run = name in RUN_NUMBERS or (len(numbers) > 1 and list(numbers) == counted_up)
    return "" if is_run else "connections"


def keys_in(heading: str) -> dict[str, str]:
    """The keys in a heading: a side, a number of something, a repetition; else a design."""
    text = heading[:LONGEST_KEY]
    if found := NUMBERED_RUN.fullmatch(text):
        return {"design": found["what"].strip()} if found["what"].strip() else {}
    if found := OF_A_SIDE.fullmatch(text):
        design = {"design": found["what"]} if found["what"] else {}
        return {**design, "side": found["side"].lower()}
    if found := COUNTED.fullmatch(text.lower()):
        # `1 client` is a number of clients; `client 1` is not.
        names = (found["word"], f"{found['word']}s") if found["word"] else (found["name"],)
        keys = (column_of(0, name).key for name in names)
        key = next((key for key in keys if key and key not in ("design", "side")), "")
        number = whole(found["of"] or found["number"])
        if key and number:
            return {key: number}
    return {"design": text}


def whole(text: str) -> str:
    """A whole number as plain digits; empty if it is not one."""
    number = parse_number(text)
    if number is None or number.value < 0 or number.value % 1:
        return ""
    return f"{number.value:.0f}"

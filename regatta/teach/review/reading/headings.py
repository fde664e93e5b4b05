"""Headings of tables: of columns that hold a metric or a key, and of columns that hold a run."""

import re
from collections.abc import Sequence

from regatta.teach.review.figures import parse_number
from regatta.teach.review.names import Quantity, heading_of

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

"""Verdicts on claims in words and signs, the same in every form of the report."""

from collections import Counter as Tally

from regatta.judge.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    VERDICTS,
    ClaimPart,
    ClaimResult,
    ScopeResult,
)
from regatta.judge.standings import seen
from regatta.record.cell import PROCESS, WINDOW
from regatta.record.inputs import EquivalenceMargin
from regatta.show.numbers import (
    TOO_FEW_TO_SAY,
    between,
    factor,
    more_than_one,
    plural,
    short,
    times,
)
from regatta.show.verdicts import listed

MARKS = {SUPPORTED: "✓", REFUTED: "✗", UNDECIDED: "?", TOO_FEW: "…", NOT_MEASURABLE: "–"}
"""So that colour is not the only sign of a verdict."""
SCOPES = {PROCESS: "as they measured", WINDOW: "as it should be"}
"""Titles, in the order shown."""
WHOLE = "whole process"
EACH_ONE = "one request on each connection"
TOGETHER = "95 %, simultaneous over this column"
LEGEND = (
    "“As they measured” counts a server from start to exit, as the source did; “as it should be” "
    "counts the load alone, and decides. Supported and refuted are significant; undecided: this "
    "race has too little power to tell. Equal: shown to be within the claim's margin "
    f"({EquivalenceMargin().words()} by default). "
    "Each of the two columns is one family, with a family-wise error rate of 5 %."
)


def tally(claims: list[ClaimResult]) -> str:
    """`27 claims: 9 supported, 6 refuted, 5 undecided and 7 not measurable here.`"""
    counts = Tally[str](claim.verdict for claim in claims)
    parts = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]]
    return f"{plural(len(claims), 'claim')}: {listed(parts)}."


def marked(result: ScopeResult | None) -> str:
    """`✗ refuted`; empty where the claim was not raced in that scope."""
    return f"{MARKS[result.verdict]} {result.verdict}" if result else ""


def single_runs(result: ScopeResult) -> str:
    """How often a single run would support the claim; empty if no block has all its parts."""
    if result.single_runs is None:
        return ""
    held, of = result.single_runs
    return f"it held in {held} of {plural(of, 'single run')}"


def unseen(result: ScopeResult) -> str:
    """The smallest detectable ratio of an undecided verdict; empty if it has none."""
    sizes = [
        part.detectable
        for part in result.parts
        if is_open(part) and part.scale == "ratio" and part.detectable
    ]
    if result.verdict != UNDECIDED or not sizes or max(sizes) == 1:
        return ""
    if seen(max(sizes)) is None:
        return f"{TOO_FEW_TO_SAY} what is detectable"
    return f"differences below {more_than_one(max(sizes))} are not detectable here"


def is_open(part: ClaimPart) -> bool:
    """Whether what is detectable is the question: not where it claims equality."""
    equal = part.claimed_low is not None and part.claimed_high is not None
    return part.verdict == UNDECIDED and not equal


def detectable(part: ClaimPart) -> str:
    """The smallest detectable difference of an undecided comparison; else empty."""
    if part.detectable is None or not is_open(part):
        return ""
    if seen_of(part) is None:
        return f"{TOO_FEW_TO_SAY} what is detectable"
    is_ratio = part.scale == "ratio"
    size = more_than_one(part.detectable) if is_ratio else _plain(part, part.detectable)
    return f"detectable: {size}"


def seen_of(part: ClaimPart) -> float | None:
    """For files: None also where there are too few blocks to say."""
    if part.detectable is None or part.scale != "ratio":
        return part.detectable
    return seen(part.detectable)


def value(part: ClaimPart) -> str:
    """`1.24 times`, `+0.31`, `power 1.02`, `0.31`; or why there is no value."""
    if part.value is None:
        return part.reason or "not compared"
    if part.scale == "ratio":
        known = part.closed
        return f"{times(known, *_claimed(part)) if known else factor(part.value)} times"
    return f"{'power ' if part.scale == 'exponent' else ''}{_end(part, part.value)}"


def interval(part: ClaimPart) -> str:
    """`1.10–1.39`; `over 1.10` if it is unbounded above; empty if there is none."""
    if part.value is None or (part.low is None and part.high is None):
        return ""
    if (known := part.closed) is None:
        word, end = ("over", part.low) if part.high is None else ("under", part.high)
        return f"{word} {_end(part, end)}"
    if part.scale == "ratio":
        return between(known, *_claimed(part))
    link = "–" if part.scale != "difference" else " to "
    return f"{_end(part, known.low)}{link}{_end(part, known.high)}"


def _claimed(part: ClaimPart) -> tuple[float, ...]:
    """Bounds that rounding must not move the figures across."""
    return tuple(end for end in (part.claimed_low, part.claimed_high) if end is not None)


def _end(part: ClaimPart, number: float | None) -> str:
    assert number is not None
    if part.scale == "ratio":
        return factor(number)
    if part.scale == "exponent":
        return f"{number:.2f}"
    more = "+" if part.scale == "difference" else ""
    sign = more if number > 0 else "−" if number < 0 else ""
    return f"{sign}{_plain(part, abs(number))}"


def _plain(part: ClaimPart, number: float) -> str:
    if part.scale == "exponent" or part.low is None or part.high is None:
        return f"{number:.3g}"
    return short(number, (part.high - part.low) / 2 or None)


def published_value(number: float) -> str:
    """Nearly as printed: up to five digits."""
    if abs(number) >= 1e6:
        return short(number)
    return f"{number:,.0f}" if abs(number) >= 1e5 else f"{number:,.5g}"


def unit_words(unit: str, per: str) -> str:
    """`µs per request`; `ms, whole process`."""
    if per == "request":
        return f"{unit} per request".strip()
    of = {"round": EACH_ONE, "process": WHOLE}.get(per, "")
    return ", ".join(filter(None, (unit, of)))


def metric_words(name: str) -> str:
    """`tma_backend_bound` as a title: `top-down: backend bound`."""
    plain = name.removeprefix("tma_").removesuffix("_ghz").replace("_", " ")
    return f"top-down: {plain}" if name.startswith("tma_") else plain

"""Verdicts on claims in words and signs, the same in every form of the report."""

from collections import Counter as Tally
from functools import partial

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

MARKS = {SUPPORTED: "✓", REFUTED: "✗", UNDECIDED: "?", TOO_FEW: "…", NOT_MEASURABLE: "–"}
"""So that colour is not the only sign of a verdict."""
SCOPES = {PROCESS: "as they measured", WINDOW: "as it should be"}
"""Titles, in the order shown."""
WHOLE = "whole process"
EACH_ONE = "one request on each connection"
OWN = "this study"
"""The source of claims without one."""
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
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{plural(len(claims), 'claim')}: {listed}."


def by_source(claims: list[ClaimResult]) -> dict[str, list[ClaimResult]]:
    """By the name of the source, in the order of the study."""
    found: dict[str, list[ClaimResult]] = {}
    for claim in claims:
        found.setdefault(claim.source or OWN, []).append(claim)
    return found


def by_scope(claim: ClaimResult) -> list[tuple[str, ScopeResult]]:
    """The scopes that were raced, in the order shown."""
    return [(scope, claim.scopes[scope]) for scope in SCOPES if scope in claim.scopes]


def disagreement(claim: ClaimResult) -> str:
    """Empty if the source's figures agree with its words."""
    return "" if claim.published_agrees else "The source's own figures contradict this."


def single_runs(result: ScopeResult) -> str:
    """How often a single run would support the claim; empty if no block has all its parts."""
    if result.single_runs is None:
        return ""
    held, of = result.single_runs
    return f"it held in {held} of {plural(of, 'single run')}"


def unseen(result: ScopeResult) -> str:
    """The smallest detectable ratio of an undecided verdict; empty if it has none."""
    open_parts = [part for part in result.parts if part.verdict == UNDECIDED and not equal(part)]
    sizes = [part.detectable for part in open_parts if part.scale == "ratio" and part.detectable]
    if result.verdict != UNDECIDED or not sizes or max(sizes) == 1:
        return ""
    if seen(max(sizes)) is None:
        return f"{TOO_FEW_TO_SAY} what is detectable"
    return f"differences below {more_than_one(max(sizes))} are not detectable here"


def equal(part: ClaimPart) -> bool:
    """Whether it claims equality: then what is detectable is not the question."""
    return part.claimed_low is not None and part.claimed_high is not None


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


def detectable(part: ClaimPart) -> str:
    """The smallest detectable difference of an undecided comparison; else empty."""
    if part.detectable is None or part.verdict != UNDECIDED or equal(part):
        return ""
    if seen_of(part) is None:
        return f"{TOO_FEW_TO_SAY} what is detectable"
    shown = more_than_one if part.scale == "ratio" else partial(_plain, part)
    return f"detectable: {shown(part.detectable)}"


def seen_of(part: ClaimPart) -> float | None:
    """For files: None also where there are too few blocks to say."""
    if part.detectable is None or part.scale != "ratio":
        return part.detectable
    return seen(part.detectable)


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


def metric_words(name: str) -> str:
    """`tma_backend_bound` as a title: `top-down: backend bound`."""
    plain = name.removeprefix("tma_").removesuffix("_ghz").replace("_", " ")
    return f"top-down: {plain}" if name.startswith("tma_") else plain

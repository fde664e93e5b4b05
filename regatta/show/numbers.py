"""Formats numbers with as many digits as their interval supports."""

import math
from collections.abc import Iterable

from regatta.judge.columns import AgainstBest
from regatta.judge.estimates import OVER, Estimate
from regatta.judge.interval import Interval, OpenInterval
from regatta.judge.standings import seen

DASH = "–"
TOO_FEW_TO_SAY = "too few to say"
MOST_OF_A_RATIO = 4
"""Digits after the point."""
NEARLY_0 = 1e-6
SMALL_RATIO = 0.1
"""Below it, the digits chosen for 1 would show a ratio as 0."""


def decimals(value: float, half_width: float | None = None) -> int:
    """Digits after the point: down to the first digit of the half-width, at most four in all."""
    size = math.floor(math.log10(abs(value))) if value else 0
    most = max(0, 3 - size) if value else 2
    # At least three digits, so that a wide interval does not round its own value away.
    fewest = max(0, 2 - size if size >= -1 else 1 - size)
    if half_width:
        wanted = -math.floor(math.log10(half_width))
        return min(max(0, wanted, fewest), most, 6)
    return min(fewest, most, 6)


def fixed(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text


def short(value: float, half_width: float | None = None) -> str:
    """612, 1,508, 0.053; millions as 1.96 M."""
    if value == 0:
        return "0"
    scale, letter = scale_of(value)
    digits = decimals(value / scale, None if half_width is None else half_width / scale)
    return f"{fixed(value / scale, digits)}{letter}"


def scale_of(value: float) -> tuple[float, str]:
    for size, letter in ((1e9, " G"), (1e6, " M")):
        if abs(value) >= size:
            return size, letter
    return 1.0, ""


def half_width(figure: Interval | None) -> float | None:
    """To the nearer end, so that an asymmetric interval does not cost digits."""
    if figure is None:
        return None
    ends = (figure.value - figure.low, figure.high - figure.value)
    return (min(end for end in ends if end > 0) if max(ends) > 0 else 0.0) or None


def bounded(estimate: OpenInterval) -> bool:
    """Whether its interval has an upper end, not more than 1,000 % away."""
    if not estimate.value or estimate.high is None:
        return estimate.high is not None
    return seen(estimate.high / estimate.value) is not None


def value_of(estimate: Estimate) -> str:
    """The value alone, or why there is none; `> 512` if only a lower bound is known."""
    if estimate.state == OVER and estimate.low is not None:
        return f"> {short(estimate.low)}"
    if estimate.value is None:
        return estimate.state
    return short(estimate.value, half_width(estimate.closed))


def interval_of(estimate: OpenInterval) -> str:
    """`602–619`; `over 602` without a useful upper end; empty without an interval."""
    if estimate.value is None or estimate.low is None:
        return ""
    half = half_width(estimate.closed)
    # One that only just excludes 0 ends there.
    low, high = (
        end if end is None or abs(end) > NEARLY_0 * abs(estimate.value) else 0.0
        for end in (estimate.low, estimate.high)
    )
    if low is None or high is None or not bounded(estimate):
        return f"over {short(low or 0.0, half)}"
    return f"{short(low, half)}{DASH}{short(high, half)}"


def around(estimate: Estimate) -> tuple[str, str]:
    """The value and its distance to the farther end of the interval, with the same digits.

    The value alone if that end is beyond 1,000 %: two blocks bound nothing.
    """
    if (known := estimate.closed) is None or not bounded(estimate):
        return value_of(estimate), ""
    value, half = known.value, half_width(known)
    scale, letter = scale_of(value)
    digits = decimals(value / scale, None if half is None else half / scale)
    step = scale / 10**digits
    further = rounded_up(max(value - known.low, known.high - value), step)
    if not value:
        return "0", short(further)
    return f"{fixed(value / scale, digits)}{letter}", f"{fixed(further / scale, digits)}{letter}"


def rounded_up(width: float, step: float) -> float:
    """So that a half-width is never shown as 0."""
    return math.ceil(width / step - 1e-9) * step


def ratio_around(against: AgainstBest) -> tuple[str, str] | None:
    """The same for a ratio to the best, as `1.24` and `.07`; None if its interval bounds nothing.

    For an interval that excludes 1, the end nearer to 1 counts, so that ± never reaches 1.
    """
    ratio = against.closed
    if against.scale != "ratio" or ratio is None or not bounded(against):
        return None
    digits = ratio_digits(ratio)
    step = 10**-digits
    if ratio.low <= 1 <= ratio.high:
        half = rounded_up(max(ratio.value - ratio.low, ratio.high - ratio.value), step)
    else:
        written = round(ratio.value, digits)
        towards_one = round(ratio.low if ratio.low > 1 else ratio.high, digits)
        half = max(step, min(abs(written - towards_one), abs(written - 1)))
    return fixed(ratio.value, digits), fixed(half, digits).removeprefix("0")


def factor(ratio: float) -> str:
    """A ratio without an interval as `1.06`: two significant digits of the excess over 1, at least
    two after the point."""
    excess = abs(ratio - 1)
    digits = 2 if excess >= 0.02 or excess < 5e-5 else min(4, 1 - math.floor(math.log10(excess)))
    return fixed(ratio, digits if ratio < 100 else 0)


def times(ratio: Interval, *claimed: float) -> str:
    """A ratio as `1.06`, with the digits of its interval."""
    return fixed(ratio.value, ratio_digits(ratio, *claimed))


def ratio_digits(ratio: Interval, *claimed: float) -> int:
    """Digits after the point of a ratio and of both ends of its interval.

    Enough to show on which side of 1, and of each claimed bound, the interval lies.
    """
    value = ratio.value
    digits = decimals(value if value < SMALL_RATIO else max(value, 1.0), half_width(ratio))
    tried = range(digits, max(MOST_OF_A_RATIO, digits + 1) + 1)
    for more in tried:
        if all(_written_as_it_is(ratio, bound, more) for bound in (1.0, *claimed)):
            return more
    # No digits show that end (`between` puts it in words); at least the value is not shown as 1.
    return next((more for more in tried if round(value, more) != 1), digits)


def _written_as_it_is(ratio: Interval, bound: float, digits: int) -> bool:
    """Whether rounding leaves the bound on the same side of both ends."""
    rounded = round(ratio.low, digits) <= bound <= round(ratio.high, digits)
    return (ratio.low <= bound <= ratio.high) == rounded


def percent(share: float) -> str:
    """A share as `3.2 %`."""
    value = share * 100
    return f"{fixed(value, 0 if value >= 10 else 1 if value >= 1 else 2)} %"


def more_than_one(ratio: float | None) -> str:
    """A detectable ratio as `8.3 %`; beyond 1,000 % it says nothing."""
    if ratio is None or seen(ratio) is None:
        return TOO_FEW_TO_SAY
    return percent(abs(ratio - 1))


def detectable(against: Iterable[AgainstBest]) -> str:
    """What is seen of all of these, if of any nothing is known."""
    shown = max((rival.detectable or math.inf for rival in against), default=math.inf)
    return f"detectable at 80 % power: {more_than_one(shown)}"


def between(ratio: Interval, *claimed: float) -> str:
    """A ratio's interval, `1.10–1.39`; an end more than 1,000 % away is not shown.

    An end that rounds to 1, or to a claimed bound, is written `over 1` or `under 1`.
    """
    value, low, high = ratio.value, ratio.low, ratio.high
    near, far = seen(value / low) is not None, seen(high / value) is not None
    digits = ratio_digits(ratio, *claimed)
    bounds = (1.0, *claimed)
    over = next((f"{bound:g}" for bound in bounds if low > bound >= round(low, digits)), "")
    under = next((f"{bound:g}" for bound in bounds if high < bound <= round(high, digits)), "")
    least, most = fixed(low, digits), fixed(high, digits)
    if near and far:
        if not over and not under:
            return f"{least}{DASH}{most}"
        first = f"over {over}" if over else f"at least {least}"
        return f"{first}, {f'under {under}' if under else f'at most {most}'}"
    if near:
        return f"over {over or least}"
    return f"under {under or most}" if far else TOO_FEW_TO_SAY


def ratio_words(ratio: Interval, *claimed: float, of: str = "") -> str:
    """`1.06 (1.04–1.08)`, with `of` after the ratio."""
    return f"{times(ratio, *claimed)}{of} ({between(ratio, *claimed)})"


def ratio_cell(ratio: Interval) -> str:
    """For `plain_table`: the interval on a second line."""
    return f"{times(ratio)}\n{between(ratio)}"


def cell_of(estimate: Estimate) -> str:
    """The same of an estimate."""
    return f"{value_of(estimate)}\n{interval_of(estimate)}".strip()


def capitalized(words: str) -> str:
    """With the first letter in upper case, the others unchanged."""
    return words[:1].upper() + words[1:]


def plural(count: int, word: str, words: str = "") -> str:
    return f"{count:,} {word if count == 1 else words or f'{word}s'}"

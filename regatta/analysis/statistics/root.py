"""Where a function crosses 0. Importing scipy.optimize takes 0.3 s, in every command."""

from collections.abc import Callable


def root_between(
    function: Callable[[float], float], low: float, high: float, tolerance: float
) -> float:
    """A zero of a continuous function whose signs at `low` and `high` differ, within `tolerance`.

    The Illinois variant of the false position method: where an end of the bracket stays twice, its
    value is halved, so that both ends close in. ValueError if the signs are equal.
    """
    at_low, at_high = function(low), function(high)
    if at_low == 0:
        return low
    if at_high == 0:
        return high
    if (at_low > 0) == (at_high > 0):
        message = f"no change of sign between {low:g} and {high:g}"
        raise ValueError(message)
    stayed = 0
    while abs(high - low) > tolerance:
        middle = high - at_high * (high - low) / (at_high - at_low)
        if not min(low, high) < middle < max(low, high):
            middle = (low + high) / 2
            if middle in {low, high}:
                break
        at_middle = function(middle)
        if at_middle == 0:
            return middle
        if (at_middle > 0) == (at_high > 0):
            high, at_high = middle, at_middle
            at_low = at_low / 2 if stayed == 1 else at_low
            stayed = 1
        else:
            low, at_low = middle, at_middle
            at_high = at_high / 2 if stayed == -1 else at_high
            stayed = -1
    return (low + high) / 2

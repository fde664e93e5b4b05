"""Chooses the next rate to try, from the outcomes so far and the highest permitted rate.

The rate rises by a factor until one is not held; then the search bisects until the two rates are
close. It also ends if the highest permitted rate is held. A rate must fail twice in a row, as a
single failure may be chance. The search depends only on its outcomes, so it can be resumed.
"""

import math

LOWEST = 100
"""Requests a second; the lowest rate that is tried."""
HIGHEST = 5_000_000
LONG_STEP = 4.0
FIRST_STEP = 1.2
"""First step from what a closed load suggests; it grows."""
SHORT_STEP = 1.07
"""First step from the result of earlier blocks; it grows."""
TOLERANCE = 1.03
"""The search ends at this ratio of the lowest failed rate to the highest held rate."""
SURE = 2
"""Failures in a row after which a rate is not held."""
HOPELESS = 4
"""The same for the lowest rate."""
MOST_PROBES = 100


class Search:
    """A search for the highest rate that is held."""

    def __init__(self, start: int = LOWEST, step: float = LONG_STEP) -> None:
        self.start = min(max(start, LOWEST), HIGHEST)
        self.highest = HIGHEST
        self.why_highest: str | None = None
        self.step = step
        self.held = 0
        """The highest rate that was held."""
        self.over: int | None = None
        """The lowest rate that was not held."""
        self.why: str | None = None
        """Why that rate was not held; or why no rate above `highest` is tried, if that is held."""
        self.doubts = 0
        self.probes = 0

    def limit_to(self, highest: int, why: str) -> None:
        """Sets the highest rate to try, and why."""
        self.highest, self.why_highest = min(max(highest, LOWEST), HIGHEST), why
        self.start = min(self.start, self.highest)

    def next_rate(self) -> int | None:
        """The next rate to try; None when the search is over."""
        if self.probes >= MOST_PROBES:
            return None
        if self.over is None:
            return self.climb()
        if self.held == 0:
            return None if self.over <= LOWEST else max(LOWEST, int(self.over / self.step))
        between = round(math.sqrt(self.held * self.over))
        close = self.over <= self.held * TOLERANCE
        return None if close or not self.held < between < self.over else between

    def climb(self) -> int | None:
        if self.held == 0:
            return self.start
        if self.held >= self.highest:
            return None
        return min(self.highest, math.ceil(self.held * self.step))

    def record(self, rate: int, why_not: str | None) -> None:
        """Records the outcome of a rate: why it is not held; None if it is."""
        self.probes += 1
        if why_not is None:
            self.held, self.doubts = rate, 0
            if rate >= self.highest:
                self.why = self.why_highest
        else:
            self.doubts += 1
            if self.doubts < (SURE if rate > LOWEST else HOPELESS):
                return
            self.over, self.why, self.doubts = rate, why_not, 0
        if self.held == 0 or self.over is None:
            # Growing steps reach a rate that is far from the start.
            self.step = min(LONG_STEP, self.step**2)

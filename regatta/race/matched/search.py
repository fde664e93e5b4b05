"""Which rate to try next, from the outcomes so far and the highest rate to try; no server.

From a low rate up by a factor until one is not held, then between the two until they are close; it
ends if the highest is held. A rate fails only twice in a row: once may be chance. The same outcomes
give the same search, so a stopped one continues where it was.
"""

import math

LOWEST = 100
"""Requests a second; below that nothing is held."""
HIGHEST = 5_000_000
LONG_STEP = 4.0
SHORT_STEP = 1.07
"""First step from where other searches ended; it grows."""
TOLERANCE = 1.03
"""Ratio of the lowest rate not held to the highest held at which a search ends."""
SURE = 2
"""Failures in a row that are not chance."""
HOPELESS = 4
"""Failures at the lowest rate after which it gives up."""
MOST_PROBES = 100


class Search:
    """One search of the highest rate that is held."""

    def __init__(self, start: int = LOWEST, step: float = LONG_STEP) -> None:
        self.start = min(max(start, LOWEST), HIGHEST)
        self.highest = HIGHEST
        self.why_highest: str | None = None
        self.step = step
        self.held = 0
        """The highest rate that is known to be held."""
        self.over: int | None = None
        """The lowest that is known not to be."""
        self.why: str | None = None
        """What came of it there; or why no higher one is tried than the highest, which is held."""
        self.doubts = 0
        self.probes = 0

    def limit_to(self, highest: int, why: str) -> None:
        """Sets the highest rate to try, and why."""
        self.highest, self.why_highest = min(max(highest, LOWEST), HIGHEST), why
        self.start = min(self.start, self.highest)

    def next_rate(self) -> int | None:
        """The rate to try; None when the search is over."""
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
        """Tells the outcome of a rate: why it is not held; None if it is."""
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
            # Growing steps find what is far from the start.
            self.step = min(LONG_STEP, self.step**2)

"""How the clocks of several clients are read together: each against the server's host's.

Two CLOCK_MONOTONIC have nothing in common but their pace. Who asks over a connection knows four
moments: when it asked and was answered, by its own clock, and when the other was asked and
answered, by the other's. The way there and back takes at least as long as one of them, so half of
both together bounds the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Offset:
    """A client's clock against the server's host's."""

    ns: int = 0
    """What it is ahead."""
    bound_ns: int = 0
    """By how much that may be wrong, either way."""


SAME = Offset()
"""Of a client on the server's own host."""


@dataclass(frozen=True)
class Asked:
    """Four moments: the first and the last by one's own clock, the others by the other's."""

    sent_ns: int
    came_ns: int
    left_ns: int
    back_ns: int

    @property
    def way_ns(self) -> int:
        """There and back."""
        return (self.back_ns - self.sent_ns) - (self.left_ns - self.came_ns)

    @property
    def offset(self) -> Offset:
        ahead = (self.sent_ns - self.came_ns) + (self.back_ns - self.left_ns)
        return Offset(ahead // 2, (self.way_ns + 1) // 2)


def offset_of(asked: Sequence[Asked]) -> Offset:
    """The one that was on its way for the shortest time says most."""
    return min(asked, key=lambda one: one.way_ns).offset

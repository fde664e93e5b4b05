"""Offsets of the clients' clocks from the clock of the server's host, by round trips as in NTP.

CLOCK_MONOTONIC starts at a different moment on every host. A request and its reply have four
timestamps: sent and received by the local clock, received and sent by the remote one. The offset's
error is at most half the time that both messages spent on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ClockOffset:
    """The offset of a client's clock from the server host's."""

    ns: int = 0
    """How far it is ahead."""
    bound_ns: int = 0
    """The largest error of `ns`, in either direction."""


SAME = ClockOffset()
"""For a client on the server's host."""


@dataclass(frozen=True)
class ClockExchange:
    """Four timestamps: the first and last by the local clock, the others by the remote one."""

    sent_ns: int
    came_ns: int
    left_ns: int
    back_ns: int

    @property
    def way_ns(self) -> int:
        """The time that both messages spent on the way."""
        return (self.back_ns - self.sent_ns) - (self.left_ns - self.came_ns)

    @property
    def offset(self) -> ClockOffset:
        ahead = (self.sent_ns - self.came_ns) + (self.back_ns - self.left_ns)
        return ClockOffset(ahead // 2, (self.way_ns + 1) // 2)


def offset_of(exchanges: Sequence[ClockExchange]) -> ClockOffset:
    """The offset from the fastest exchange, which has the smallest error."""
    return min(exchanges, key=lambda one: one.way_ns).offset

"""All checks in one table, and a finding: the arithmetic of some figures, and what follows."""

import re
from dataclasses import dataclass

from regatta.judge.estimates import digits
from regatta.teach.review.figures import Record, ReportedFigure

CONTRADICTION, NOT_SHOWN = KINDS = ("contradiction", "not shown")
"""Two figures that cannot both be right, or one that cannot be what it is called; and figures that
may all be right, but do not support the usual conclusion."""
TABLE = """
contradiction unread: not a number
  write it as perf prints it with LC_ALL=C; a number of events is no rate.
not shown torn: a row has more cells than headings
  give each cell a heading; write a pipe within a cell as \\|.
contradiction ratio: a ratio does not match its counts
  copy all three again from the same output: one comes from another line, kind of core or run.
contradiction impossible: a value that no machine has
  measure again: a counter wrapped or was read wrongly, or a digit or a unit was copied wrongly.
contradiction top-down: top-down shares add up to more than 100 %
  copy all four again from the same output and kind of core.
contradiction part: a part is larger than its whole
  copy both again from the same output: one comes from another line, kind of core or run.
contradiction mix: an unusual share of branches
  check both figures: one comes from another line or another kind of core.
contradiction misplaced: instructions in place of cycles
  check the cycles.
contradiction order: latencies out of order
  copy the row again: a larger percentile is never smaller, and all lie between min and max.
contradiction mean: a mean that its percentiles exclude
  copy the row again: the mean or a percentile comes from another run, or has another unit.
contradiction in-flight: more requests in flight than connections
  check all three; if latency counts from when a request was due (wrk2), the rate was not held.
contradiction twice: one run with two values
  check it in the output that both come from.
not shown unserved: a server that hardly ran
  check that every client got an answer; a server that serves none needs about as much.
not shown errors: errors among the answers
  make every request succeed, or report the rate of good answers only: an error is often cheaper.
not shown tail: a p99 at or below the mean
  check both: either they are swapped, or a few requests took very long and p99 hides them.
not shown client-bound: connections that did not wait for the server
  use a faster client, or one on other CPUs: the server could have answered more.
not shown ceiling: all servers answer the same number of requests
  check CPUs and network of the client: if they are busy, it was measured, not the servers.
not shown few-requests: a percentile of too few requests
  send more requests: at least ten should be slower than the percentile.
not shown ranks: time and cycles rank designs differently
  compare cycles, or fix the clock (cpupower frequency-set -g performance) and measure again.
not shown one-run: one run only
  repeat each ten times, in turn, and report the spread (perf stat -r 10); or regatta race them.
not shown start-and-end: mostly startup and shutdown
  count only the load (perf stat -D -1 --control), subtract an idle run, or send more requests.
not shown idle: elapsed time is mostly waiting
  do not rank by it: it includes waiting for clients, retries or Ctrl-C. Time the requests.
not shown multiplexed: multiplexed counters
  count fewer events at once, or pin the program to one kind of core (taskset) if it has two.
not shown user-space: the kernel's work was not counted
  count as root, or set sysctl kernel.perf_event_paranoid=1 first.
"""
"""Kind, name and title of each check, and below them what to do, in the order of a review."""


@dataclass(frozen=True)
class FigureCheck:
    name: str
    kind: str
    title: str
    do: str


ENTRY = re.compile(rf"({'|'.join(KINDS)}) ([\w-]+): (.+)\n  (.+)")
CHECKS = {name: FigureCheck(name, kind, *rest) for kind, name, *rest in ENTRY.findall(TABLE)}
ORDER = {one.name: (KINDS.index(one.kind), place) for place, one in enumerate(CHECKS.values())}


@dataclass(frozen=True)
class ReviewFinding:
    check: FigureCheck
    file: str
    line: int
    subject: str
    """Whose figures these are."""
    says: str
    """The arithmetic, in one or two sentences."""
    printed: float | None = None
    computed: float | None = None
    """Where one figure is compared with what follows from others: both, in the same unit."""


def found(
    name: str,
    record: Record,
    says: str,
    at: ReportedFigure | tuple[int, float | None] | None = None,
    computed: float | None = None,
) -> ReviewFinding:
    """`at`: the printed figure, or the line and the value if no figure was printed so."""
    line, printed = (
        (at.line, at.value) if isinstance(at, ReportedFigure) else at or (record.line, None)
    )
    return ReviewFinding(CHECKS[name], record.file, line, record.label, says, printed, computed)


def and_others(those: int, word: str) -> str:
    """The end of an example that stands for several, itself among them."""
    if those < 2:
        return ""
    return f" The same holds for {those - 1:,} other {word if those == 2 else word + 's'}."


def milliseconds(seconds: float) -> str:
    return f"{digits(seconds * 1e3, 4)} ms"


def amount(value: float) -> str:
    """`746.3 million`; small ones whole."""
    return f"{digits(value / 1e6, 4)} million" if abs(value) >= 1e6 else f"{value:,.0f}"


def share(part: float, whole: float) -> str:
    """`0.8 %`."""
    return f"{digits(part / whole * 100, 2)} %"

"""A table of the clients that shared the loads: a row a client."""

from regatta.analysis.results import Analysis
from regatta.analysis.soundness.clients import ClientFound
from regatta.report.text.numbers import percent, short
from regatta.report.text.table import Table
from regatta.study.limits import START_SKEW_LIMIT_MS

TITLE = "Clients"
NS_PER_US, NS_PER_MS = 1e3, 1e6


def clients_table(analysis: Analysis) -> Table | None:
    """None where one client made every load."""
    found = analysis.clients
    if not found.each:
        return None
    says = (
        "Several clients shared each load; percentiles are of all their requests together. They "
        f"began within {short(found.skew_p99_ns / NS_PER_MS)} ms of each other in 99 % of trials, "
        f"by their own clocks; a trial beyond {START_SKEW_LIMIT_MS:g} ms is repeated."
    )
    header = [
        *("client", "connections", "CPU used", "at most", "was the limit", "late, p99 at worst"),
        *("began late", "clock known to"),
    ]
    return Table(TITLE, says, header, [_row(at, one) for at, one in enumerate(found.each, 1)])


def _row(at: int, one: ClientFound) -> list[str]:
    late = one.late_p99_ns
    return [
        f"{at}, {one.host}" if one.host else f"{at}",
        f"{one.connections:,}",
        percent(one.cpu_share),
        percent(one.most_cpu_share),
        f"{one.bound} of {one.trials}",
        "" if late is None else f"{short(late / NS_PER_MS)} ms",
        f"{short(one.began_late_ns / NS_PER_US)} µs",
        f"{short(one.clock_bound_ns / NS_PER_US)} µs" if one.clock_bound_ns else "the same clock",
    ]

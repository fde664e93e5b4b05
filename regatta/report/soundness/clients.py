"""The table of the clients that shared the loads."""

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
        "Several clients shared each load; percentiles pool all their requests. They started "
        f"within {short(found.skew_p99_ns / NS_PER_MS)} ms of each other in 99 % of trials, by "
        f"their own clocks; a trial with more than {START_SKEW_LIMIT_MS:g} ms is repeated. Each "
        "client runs its own burst rounds."
    )
    header = [
        *("client", "connections", "CPU used", "peak", "client-bound", "worst p99 lateness"),
        *("start delay", "clock error"),
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

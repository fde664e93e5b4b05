"""Servers under load: rate, latencies, connections, errors and bytes against one another."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from regatta.judge.estimates import digits
from regatta.teach.review.checks.compared import groups, typical
from regatta.teach.review.figures import Record, ReportedFigure
from regatta.teach.review.finding import ReviewFinding, amount, and_others, found, milliseconds
from regatta.teach.review.names import LATENCY

SLACK, WAITING = 1.05, 0.5
"""More in flight than connections, beyond this factor; fewer, below this share: they waited."""
FEW_ERRORS, FEWEST_BEHIND, SAME_RATE = 1e-3, 10, 1.015
MOMENTS = ("mean", "stdev")
Steps = Sequence[tuple[float, ReportedFigure]]
"""Shares of the requests, from 0 to 1, and the latency that these did not exceed."""


def of_load(records: Sequence[Record]) -> Iterator[ReviewFinding]:
    loaded = [one for one in records if {"rate", "mean"} & one.figures.keys()]
    for record in loaded:
        yield from latencies(record, steps_of(record))
        yield from in_flight(record)
        yield from failures(record)
    for group in groups(loaded, "design", "url"):
        yield from ceiling(group)


def steps_of(record: Record) -> Steps:
    """Minimum, percentiles and maximum."""
    names = [one for one in record.figures if LATENCY.fullmatch(one) and one not in MOMENTS]
    ends = {"min": 0.0, "max": 1.0}
    shares = {name: ends[name] if name in ends else float(name[1:]) / 100 for name in names}
    return [(shares[name], record.figures[name]) for name in sorted(names, key=shares.__getitem__)]


def latencies(record: Record, steps: Steps) -> Iterator[ReviewFinding]:
    low, mean, high = map(record.figures.get, ("min", "mean", "max"))
    pairs = [*pairwise(one for _, one in steps), (low, mean), (mean, high)]
    wrong = [
        (one, other)
        for one, other in pairs
        if one and other and bool(one.unit) == bool(other.unit) and one.low > other.high * 1.001
    ]
    if wrong:
        one, other = wrong[0]
        says = f"{named(one)} is more than {named(other)}."
        yield found("order", record, says + and_others(len(wrong), "pair"), one, other.value)
    p99 = next((one for share, one in steps if 0.99 <= share < 1), None)
    if p99 and mean and p99.value <= mean.value and not wrong:
        says = f"{named(p99)} and {named(mean)}: only a few very slow requests can cause that."
        yield found("tail", record, says, p99, mean.value)
    count = record.figures["requests"].value if "requests" in record.figures else float("inf")
    few = [(one, (1 - share) * count) for share, one in steps if 0.9 < share <= 0.99]
    few = [one for one in few if one[1] < FEWEST_BEHIND - 0.01]
    if few:
        says = f"Of {count:,.0f} requests {digits(few[-1][1], 2)} took longer than "
        yield found("few-requests", record, f"{says}{named(few[-1][0])}.", few[-1][0])


def named(figure: ReportedFigure) -> str:
    return f"{figure.name} {figure.text} {figure.unit}".rstrip()


def in_flight(record: Record) -> Iterator[ReviewFinding]:
    """Little's law: as many requests are under way as arrive a second, times how long one takes."""
    rate, mean, clients, lost = map(record.figures.get, ("rate", "mean", "clients", "unconnected"))
    told = record.keys.get("connections", "")
    connections = clients.value if clients else float(told) if told.isdecimal() else 0.0
    connections -= lost.value if lost else 0
    if not rate or not mean or not mean.unit or connections < 1 or rate.value <= 0:
        return
    says = f"{rate.text} a second x {mean.text} {mean.unit} = {digits(rate.value * mean.value, 3)} "
    says += f"requests under way, over {connections:,.0f} connections"
    closed = connections / rate.value
    # wrk adds the latencies of requests that it would have kept back; a table may hold wrk's.
    may_be = record.tool == "wrk" or (not record.tool and mean.value < 2 * SLACK * closed)
    if rate.low * mean.low > connections * SLACK and not may_be:
        yield found("in-flight", record, f"{says}.", mean, closed)
    elif rate.high * mean.high < WAITING * connections and record.tool != "k6":
        says += ": most waited for the client, for a new connection or for a request that failed."
        yield found("client-bound", record, says, mean, closed)


def failures(record: Record) -> Iterator[ReviewFinding]:
    rate, requests = map(record.figures.get, ("rate", "requests"))
    few = FEW_ERRORS * requests.value if requests else 0.0
    failed = map(record.figures.get, ("errors", "lost"))
    bad = [one for one in failed if one and one.value > few]
    if bad:
        of = f" of {requests.value:,.0f}" if requests else ""
        says = f"{sum(one.value for one in bad):,.0f}{of} requests failed."
        if requests and rate and bad[0].name == "errors" and requests.value >= bad[0].value:
            good = rate.value * (1 - bad[0].value / requests.value)
            says += f" Of {amount(rate.value)} a second {amount(good)} were good answers."
        yield found("errors", record, says, bad[0], requests.value if requests else None)


def ceiling(group: Sequence[Record]) -> Iterator[ReviewFinding]:
    rates = sorted(typical(group, "rate", "design").values(), key=lambda one: one[1].value)
    if len(rates) > 2 and 0 < rates[-1][1].value < SAME_RATE * rates[0][1].value:
        means = [one.value for _, one in typical(group, "mean", "design").values()]
        says = f"{len(rates)} servers answered {amount(rates[0][1].value)} to "
        says += f"{amount(rates[-1][1].value)} requests a second"
        if means:
            says += f", with means of {milliseconds(min(means))} to {milliseconds(max(means))}"
        yield found("ceiling", rates[0][0], f"{says}.", rates[0][1], rates[-1][1].value)

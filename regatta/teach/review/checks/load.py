"""Servers under load: rate, latencies, connections, errors and bytes against one another."""

from collections.abc import Iterator, Sequence
from operator import itemgetter

from regatta.judge.estimates import digits
from regatta.teach.review.checks.compared import groups, typical
from regatta.teach.review.figures import Record, ReportedFigure
from regatta.teach.review.finding import ReviewFinding, amount, and_others, found, milliseconds
from regatta.teach.review.names import LATENCY, SECONDS

SLACK, WAITING = 1.05, 0.5
"""More in flight than connections, beyond this factor; fewer, below this share: they waited."""
CORRECTED = 0.577
"""wrk adds, to each latency above twice the mean of a closed loop, those of the requests that it
would have kept back. Of the corrected ones, at least a quarter stays below that (Markov), so the
standard deviation is at least this share of the distance between it and their mean (Cantelli)."""
SMALLEST_ANSWER, WITH_HEADS = 19, ("wrk", "wrk2", "ab")
first = itemgetter(0)
FEW_ERRORS, FEWEST_BEHIND, SAME_RATE, OTHER_SIZE = 1e-3, 10, 1.015, 2.0


def of_load(records: Sequence[Record]) -> Iterator[ReviewFinding]:
    loaded = [one for one in records if {"rate", "mean"} & one.figures.keys()]
    for record in loaded:
        yield from latencies(record)
        yield from in_flight(record)
        yield from failures(record)
    for group in groups(loaded, "design", "url"):
        yield from same_for_all(group)


def latencies(record: Record) -> Iterator[ReviewFinding]:
    """Minimum, percentiles and maximum in order, and a mean that they allow."""
    shares = {
        name: 0.0 if name == "min" else 1.0 if name == "max" else float(name[1:]) / 100
        for name in record.figures
        if LATENCY.fullmatch(name) and name not in ("mean", "stdev")
    }
    ranked = [
        (shares[name], record.figures[name])
        for name in sorted(shares, key=lambda name: shares[name])
    ]
    wrong = [
        (one, other)
        for (_, one), (_, other) in zip(ranked, ranked[1:], strict=False)
        if one.value - one.half > (other.value + other.half) * 1.001
        if bool(one.unit) == bool(other.unit)
    ]
    if wrong:
        one, other = wrong[0]
        says = f"{named(one)} is more than {named(other)}."
        yield found("order", record, says + and_others(len(wrong) - 1, "pair"), one, other.value)
    elif "mean" in record.figures:
        yield from mean_of(record, record.figures["mean"], ranked)
    count = record.figures["requests"].value if "requests" in record.figures else float("inf")
    few = [(one, (1 - share) * count) for share, one in ranked if 0.9 < share <= 0.99]
    few = [one for one in few if one[1] < FEWEST_BEHIND - 0.01]
    if few:
        says = f"Of {count:,.0f} requests {digits(few[-1][1], 2)} took longer than "
        yield found("few-requests", record, f"{says}{named(few[-1][0])}.", few[-1][0])


def named(figure: ReportedFigure) -> str:
    return f"{figure.name} {figure.text} {figure.unit}".rstrip()


def mean_of(
    record: Record, mean: ReportedFigure, ranked: Sequence[tuple[float, ReportedFigure]]
) -> Iterator[ReviewFinding]:
    """The requests between two percentiles took no less than the one and no more than the other."""
    steps = [one for one in ranked if bool(one[1].unit) == bool(mean.unit)]
    below = [(share, max(one.value - one.half, 0)) for share, one in steps if share < 1]
    above = [(share, one.value + one.half) for share, one in steps if share > 0]
    below = below if below and below[0][0] == 0 else [(0.0, 0.0), *below]
    above = above if above and above[-1][0] == 1 else [*above, (1.0, float("inf"))]
    ends = [share for share, _ in below] + [1.0]
    widths = [high - low for low, high in zip(ends, ends[1:], strict=False)]
    low, high = (
        sum(width * value for width, (_, value) in zip(widths, edge, strict=True))
        for edge in (below, above)
    )
    p99 = next((one for share, one in steps if 0.99 <= share < 1), None)
    if mean.value + mean.half < low * 0.999 or mean.value - mean.half > high * 1.001:
        bound, edge = ("at least", low) if mean.value < low else ("at most", high)
        others = ", ".join(named(one) for _, one in steps)
        limit = f"{digits(edge / SECONDS.get(mean.unit, 1.0), 3)} {mean.unit}".rstrip()
        says = f"{named(mean)}, but by {others} it is {bound} {limit}."
        yield found("mean", record, says, mean, edge)
    elif p99 and p99.value <= mean.value:
        says = f"{named(p99)} and {named(mean)}: only a few very slow requests can cause that."
        yield found("tail", record, says, p99, mean.value)


def in_flight(record: Record) -> Iterator[ReviewFinding]:
    """Little's law: as many requests are under way as arrive a second, times how long one takes."""
    rate, mean, clients, lost = map(record.figures.get, ("rate", "mean", "clients", "unconnected"))
    told = record.keys.get("connections", "")
    connections = clients.value if clients else float(told) if told.isdecimal() else 0.0
    connections -= lost.value if lost else 0
    if not rate or not mean or not mean.unit or connections < 1 or rate.value <= 0:
        return
    least = (rate.value - rate.half) * (mean.value - mean.half)
    most = (rate.value + rate.half) * (mean.value + mean.half)
    says = f"{rate.text} a second x {mean.text} {mean.unit} = {digits(rate.value * mean.value, 3)} "
    says += f"requests under way, over {connections:,.0f} connections"
    closed, stdev = connections / rate.value, record.figures.get("stdev")
    if record.tool == "wrk" and stdev:
        may_be = stdev.value + stdev.half > CORRECTED * (mean.value - 2 * closed)
    else:
        # A table may hold wrk's, without the standard deviation.
        may_be = record.tool in ("", "wrk") and mean.value < 2 * SLACK * closed
    if least > connections * SLACK and not may_be:
        yield found("in-flight", record, f"{says}.", mean, closed)
    elif most < WAITING * connections and record.tool != "k6":
        says += ": most waited for the client, for a new connection or for a request that failed."
        yield found("client-bound", record, says, mean, closed)


def failures(record: Record) -> Iterator[ReviewFinding]:
    figures = record.figures
    rate, requests, total = map(figures.get, ("rate", "requests", "bytes"))
    few = FEW_ERRORS * requests.value if requests else 0.0
    bad = [one for name in ("errors", "lost") if (one := figures.get(name)) and one.value > few]
    if bad:
        count = sum(one.value for one in bad)
        says = f"{count:,.0f} requests failed."
        if requests:
            says = f"{count:,.0f} of {requests.value:,.0f} requests failed."
        if requests and rate and bad[0].name == "errors" and requests.value >= bad[0].value:
            good = rate.value * (1 - bad[0].value / requests.value)
            says += f" Of {amount(rate.value)} a second {amount(good)} were good answers."
        yield found("errors", record, says, bad[0], requests.value if requests else None)
    if record.tool in WITH_HEADS and requests and total and requests.value > 0:
        each = (total.value + total.half) / requests.value
        if each < SMALLEST_ANSWER:
            says = f"{total.words} in {requests.words} are {digits(each, 3)} bytes each."
            yield found("size", record, says, total, each)


def same_for_all(group: Sequence[Record]) -> Iterator[ReviewFinding]:
    rates = sorted(typical(group, "rate", "design").values(), key=lambda one: one[1].value)
    if len(rates) > 2 and 0 < rates[-1][1].value < SAME_RATE * rates[0][1].value:
        means = [one.value for _, one in typical(group, "mean", "design").values()]
        says = f"{len(rates)} servers answered {amount(rates[0][1].value)} to "
        says += f"{amount(rates[-1][1].value)} requests a second"
        if means:
            says += f", with means of {milliseconds(min(means))} to {milliseconds(max(means))}"
        yield found("ceiling", rates[0][0], f"{says}.", rates[0][1], rates[-1][1].value)
    # Of the same path: other pages are of other sizes.
    pages: dict[str, dict[str, tuple[float, Record]]] = {}
    for one in group:
        total, count = one.figures.get("bytes"), one.figures.get("answers")
        count = count or one.figures.get("requests")
        if total and count and count.value > 0:
            page = pages.setdefault(one.keys.get("url", "").rpartition("/")[2], {})
            page.setdefault(one.design, (total.value / count.value, one))
    for page in pages.values():
        (few, one), (many, other) = min(page.values(), key=first), max(page.values(), key=first)
        if many > OTHER_SIZE * few:
            says = f"{digits(few, 3)} bytes an answer, against {digits(many, 3)} of {other.label}."
            yield found("sizes", one, says, (one.line, few), many)

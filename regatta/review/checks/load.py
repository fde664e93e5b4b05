"""Servers under load: rate, latencies, connections, errors and bytes against one another."""

from collections.abc import Iterator, Sequence

from regatta.analysis.numbers import digits
from regatta.review.checks.compared import groups, typical
from regatta.review.figures import CONNECTIONS, DESIGN, Figure, Record
from regatta.review.finding import Finding, amount, and_others, found, milliseconds, share
from regatta.review.names import (
    ANSWERS,
    BYTES,
    CLIENTS,
    ERRORS,
    LATENCY,
    MAX,
    MEAN,
    MIN,
    RATE,
    REQUESTS,
    SECONDS,
    SOCKET_ERRORS,
    STDEV,
    UNCONNECTED,
)

SLACK, WAITING = 1.05, 0.5
"""More in flight than connections, beyond this factor; fewer, below this share, waited otherwise."""
CORRECTED = 0.577
"""wrk adds, to each latency above twice the mean of a closed loop, those of the requests that it
would have kept back. Of the corrected ones, at least a quarter stays below that (Markov), so the
standard deviation is at least this share of the distance between it and their mean (Cantelli)."""
SMALLEST_ANSWER, WITH_HEADS = 19, ("wrk", "wrk2", "ab")
FEW_ERRORS, FEWEST_BEHIND, SAME_RATE, OTHER_SIZE = 1e-3, 10, 1.015, 2.0


def of_load(records: Sequence[Record]) -> Iterator[Finding]:
    loaded = [one for one in records if RATE in one.figures or MEAN in one.figures]
    for record in loaded:
        yield from latencies(record)
        yield from in_flight(record)
        yield from failures(record)
    for group in groups(loaded, DESIGN, "url"):
        yield from same_for_all(group)


def percentiles(record: Record) -> list[tuple[float, Figure]]:
    """Share of the requests and latency, ascending by share."""
    found_ = [
        (float(name.removeprefix(f"{LATENCY}p")) / 100, one)
        for name, one in record.figures.items()
        if name.startswith(f"{LATENCY}p")
    ]
    return sorted(found_, key=lambda one: one[0])


def name_of(figure: Figure) -> str:
    return f"{figure.name.removeprefix(LATENCY)} {figure.text} {figure.unit}".rstrip()


def latencies(record: Record) -> Iterator[Finding]:
    figures, ranked = record.figures, percentiles(record)
    least, most, mean = figures.get(MIN), figures.get(MAX), figures.get(MEAN)
    in_order = [*([least] if least else []), *(one for _, one in ranked), *([most] if most else [])]
    wrong = [
        (one, other)
        for one, other in zip(in_order, in_order[1:], strict=False)
        if one.value - one.half > (other.value + other.half) * 1.001
        if bool(one.unit) == bool(other.unit)
    ]
    if wrong:
        one, other = wrong[0]
        says = f"{name_of(one)} is more than {name_of(other)}."
        yield found("order", record, says, one, other.value, and_others(len(wrong) - 1, "pair"))
    elif mean:
        yield from mean_of(record, mean, ranked, least, most)
    requests = figures.get(REQUESTS)
    if ranked and requests:
        shares = [(part, one) for part, one in ranked if 0.9 < part < 1]
        few = [one for one in shares if (1 - one[0]) * requests.value < FEWEST_BEHIND - 0.01]
        if few:
            part, one = few[-1]
            says = f"Of {requests.words} {digits((1 - part) * requests.value, 2)} took longer than "
            says += f"{name_of(one)}."
            yield found("few-requests", record, says, one)


def mean_of(
    record: Record,
    mean: Figure,
    ranked: list[tuple[float, Figure]],
    least: Figure | None,
    most: Figure | None,
) -> Iterator[Finding]:
    """The requests between two percentiles took no less than the one and no more than the other."""
    steps = [one for one in ranked if bool(one[1].unit) == bool(mean.unit) and one[0] < 1]
    below = [(0.0, least.value - least.half if least else 0.0)]
    below += [(part, one.value - one.half) for part, one in steps]
    above = [(part, one.value + one.half) for part, one in steps]
    above += [(1.0, most.value + most.half if most else float("inf"))]
    low = high = 0.0
    for (part, smallest), (next_, largest) in zip(below, above, strict=True):
        low, high = low + (next_ - part) * max(smallest, 0), high + (next_ - part) * largest
    if mean.value + mean.half < low * 0.999 or mean.value - mean.half > high * 1.001:
        edge = low if mean.value < low else high
        scale = SECONDS.get(mean.unit, 1.0)
        bound = "at least" if mean.value < low else "at most"
        others = ", ".join(name_of(one) for one in (least, *(one for _, one in steps), most) if one)
        says = f"{name_of(mean)}, but by {others} it is {bound} {digits(edge / scale, 3)} "
        yield found("mean", record, f"{says}{mean.unit}".rstrip() + ".", mean, edge)
        return
    p99 = next((one for part, one in steps if part >= 0.99), None)
    if p99 and p99.value <= mean.value:
        says = f"{name_of(p99)} and {name_of(mean)}: of 100 requests the slowest took "
        says += "no longer than the mean, which only a few very slow ones can cause."
        yield found("tail", record, says, p99, mean.value)


def in_flight(record: Record) -> Iterator[Finding]:
    """Little's law: as many requests are under way as arrive a second, times how long one takes."""
    rate, mean, clients = (record.figures.get(name) for name in (RATE, MEAN, CLIENTS))
    told = record.keys.get(CONNECTIONS, "")
    connections = clients.value if clients else float(told) if told.isdecimal() else 0.0
    connections -= record.figures[UNCONNECTED].value if UNCONNECTED in record.figures else 0
    if not rate or not mean or not mean.unit or connections < 1:
        return
    least = (rate.value - rate.half) * (mean.value - mean.half)
    most = (rate.value + rate.half) * (mean.value + mean.half)
    says = f"{rate.text} a second x {mean.text} {mean.unit} = {digits(rate.value * mean.value, 3)} "
    says += f"requests under way, over {connections:,.0f} connections"
    if least > connections * (SLACK if record.tool else 2 * SLACK):
        stdev = record.figures.get(STDEV)
        closed = connections / rate.value
        if record.tool == "wrk" and (
            not stdev or stdev.value + stdev.half > CORRECTED * (mean.value - 2 * closed)
        ):
            return
        yield found("in-flight", record, f"{says}.", mean, closed)
    elif most < WAITING * connections and record.tool != "k6":
        says += ": most waited for the client, for a new connection or for a request that failed."
        yield found("client-bound", record, says, mean, connections / rate.value)


def failures(record: Record) -> Iterator[Finding]:
    figures = record.figures
    rate, requests = figures.get(RATE), figures.get(REQUESTS)
    bad = [
        one
        for name in (ERRORS, SOCKET_ERRORS)
        if (one := figures.get(name))
        and one.value > (FEW_ERRORS * requests.value if requests else 0)
    ]
    if bad:
        count = sum(one.value for one in bad)
        says = f"{count:,.0f} requests failed."
        if requests and requests.value >= count:
            says = f"{share(count, requests.value)} of {requests.value:,.0f} requests failed."
            if rate and ERRORS in figures:
                good = rate.value * (1 - figures[ERRORS].value / requests.value)
                says += f" Of {amount(rate.value)} a second {amount(good)} were good answers."
        yield found("errors", record, says, bad[0], requests.value if requests else None)
    if record.tool in WITH_HEADS and requests and BYTES in figures and requests.value > 0:
        total = figures[BYTES]
        each = (total.value + total.half) / requests.value
        if each < SMALLEST_ANSWER:
            says = f"{total.words} in {requests.words} are {digits(each, 3)} bytes each."
            yield found("size", record, says, total, each)


def same_for_all(group: Sequence[Record]) -> Iterator[Finding]:
    rates = sorted(typical(group, RATE, DESIGN).values(), key=lambda one: one.value)
    if len(rates) > 2 and 0 < rates[-1].value < SAME_RATE * rates[0].value:
        means = [one.value for one in typical(group, MEAN, DESIGN).values()]
        says = f"{len(rates)} servers answered {amount(rates[0].value)} to "
        says += f"{amount(rates[-1].value)} requests a second"
        if means:
            says += f", with means of {milliseconds(min(means))} to {milliseconds(max(means))}"
        yield found("ceiling", rates[0].record, f"{says}.", rates[0].figure, rates[-1].value)
    sizes = sorted(
        (total.value / count.value, place, one)
        for place, one in enumerate(group)
        if (total := one.figures.get(BYTES))
        and (count := one.figures.get(ANSWERS) or one.figures.get(REQUESTS))
        and count.value > 0
    )
    if len(sizes) > 1 and sizes[-1][0] > OTHER_SIZE * sizes[0][0]:
        (few, _, one), (many, _, other) = sizes[0], sizes[-1]
        says = f"{digits(few, 3)} bytes an answer, against {digits(many, 3)} of {other.label}."
        yield found("sizes", one, says, one.figures[BYTES], many, printed=few)

"""What is said once for a file, with the first or worst example."""

from collections.abc import Iterator

from regatta.review.figures import Figure, Reading, Record
from regatta.review.finding import Finding, amount, and_others, found, milliseconds, share
from regatta.review.names import COUNTS, MISTAKEN_RATE, SCALES
from regatta.review.numbers import is_indian

IDLE_SHARE = 0.1


def in_file(reading: Reading) -> Iterator[Finding]:
    for name, cells, word in (("unread", reading.unread, "cell"), ("torn", reading.torn, "row")):
        if cells:
            where = Record(reading.file, cells[0][0], {}, {})
            yield found(name, where, cells[0][1] + and_others(len(cells) - 1, word))
    printed = [(record, one) for record in reading.records for one in record.figures.values()]
    rates: dict[str, list[tuple[Record, Figure]]] = {}
    for record, one in printed:
        if one.name.endswith(MISTAKEN_RATE):
            rates.setdefault(one.name, []).append((record, one))
    for those in rates.values():
        record, one = those[0]
        says = not_a_count(record, one) + and_others(len(those) - 1, "row")
        yield found("rate", record, says, one)
    indian = [one for one in printed if is_indian(one[1].text)]
    if indian:
        record, one = max(indian, key=lambda one: one[1].value)
        says = f"{one.words} is {one.value:,.0f}: {amount(one.value)}, grouped by lakh and crore."
        says += and_others(len(indian) - 1, "number")
        yield found("grouping", record, says, (one.line, None), one.value)
    user = []
    for record in reading.records:
        counts = [one for one in record.figures.values() if one.user_only and one.name in COUNTS]
        # Kernel-only events read 0.
        user += [(record, one) for one in counts if one.value][:1]
    if user:
        record, one = user[0]
        says = f"{one.words} were counted in user space only{split(record)}."
        yield found("user-space", record, says + and_others(len(user) - 1, "run"), (one.line, None))
    idle = sorted((busy(one), one.line, one) for one in reading.records if busy(one) < IDLE_SHARE)
    if idle:
        record = idle[0][2]
        time, elapsed = record.figures["task_clock"].value, record.figures["elapsed"]
        says = f"{milliseconds(time)} of CPU in {elapsed.words}: {share(time, elapsed.value)}."
        yield found("idle", record, says + and_others(len(idle) - 1, "run"), elapsed)


def not_a_count(record: Record, figure: Figure) -> str:
    what = figure.name.removesuffix(MISTAKEN_RATE).replace("_", " ")
    says = f"{f'{figure.text} {figure.unit}'.strip()} is not a number of {what}, which is an "
    time, unit = record.figures.get("task_clock"), figure.unit or "M/sec"
    letter = unit.partition("/")[0].lower().strip()
    if time is None or letter not in SCALES:
        return f"{says}integer."
    total = amount(figure.value * SCALES[letter] * time.value)
    condition = "" if figure.unit else "If it is M/sec: "
    return f"{says}integer. {condition}{figure.text} {unit} x {time.words} = {total}."


def split(record: Record) -> str:
    user, system = record.figures.get("user"), record.figures.get("system")
    if user is None or system is None or user.value + system.value <= 0:
        return ""
    both = user.value + system.value
    return f"; {share(system.value, both)} of {milliseconds(both)} were spent in the kernel"


def busy(record: Record) -> float:
    """CPU time as a share of elapsed time; 1 if unknown."""
    time, elapsed = record.figures.get("task_clock"), record.figures.get("elapsed")
    return time.value / elapsed.value if time and elapsed and elapsed.value > 0 else 1.0

"""The readable output of `perf stat`, in any locale, with or without prose around it."""

import re
from collections.abc import Iterator

from regatta.review.figures import DESIGN, Reading
from regatta.review.names import ELAPSED, SYSTEM, USER, Quantity, event_of
from regatta.review.numbers import NUMBER, parse_decimal, parse_number, point_of
from regatta.review.reading.block import Blocks, Printed
from regatta.review.reading.to_figure import figure_of

FORM = "perf stat"
LONGEST_LINE = 1000
HEADER = re.compile(
    r"\s*Performance counter stats for (?P<what>.*?)(?: \((?P<runs>\d+) runs\))?:\s*"
)
TIME = re.compile(
    rf"\s*(?P<number>{NUMBER})(?P<spread>\s*\+-\s*{NUMBER})?\s+seconds\s+"
    r"(?P<what>time elapsed|user|sys)\b.*"
)
TIMES = {"time elapsed": ELAPSED, "user": USER, "sys": SYSTEM}
RUNNING = re.compile(rf"\(\s*({NUMBER})\s*%\)\s*$")
SPREAD = re.compile(rf"\(\s*\+-\s*{NUMBER}\s*%\s*\)")
COUNTED = re.compile(
    rf"\s*(?P<value><not supported>|<not counted>|{NUMBER})\s+(?:(?P<unit>[mun]?sec|ns)\s+)?"
    r"(?P<event>[A-Za-z][^\s(#]*)\s*(?:\((?P<old_unit>msec)\))?\s*"
)
METRIC = re.compile(rf"\s*(?P<number>{NUMBER})\s*(?P<unit>\S.*)")
CORE = re.compile(r"\((cpu_\w+)\)\s*$")


def looks_like_perf(lines: list[str]) -> bool:
    return any(HEADER.fullmatch(line) or TIME.fullmatch(line) or known(line) for line in lines)


def read_perf_text(file: str, lines: list[str]) -> Reading:
    """Skips lines that are not perf's, as a report has prose between its figures."""
    point, blocks = point_of(decimals(lines)), Blocks(file)
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            continue
        if header := HEADER.fullmatch(line):
            block = blocks.begin(number, {DESIGN: header["what"].strip().strip("'\u2018\u2019\"")})
            block.repeated = header["runs"] is not None
        elif time := TIME.fullmatch(line):
            read_time(time, number, blocks)
        elif known(line) or blocks.last.figures or blocks.last.line:
            # An unknown event counts as perf's only among perf's lines.
            printed = take_apart(line, number, point)
            if printed is not None:
                blocks.take(printed)
    return Reading(file, FORM, blocks.records())


def decimals(lines: list[str]) -> Iterator[str]:
    """The numbers that have decimals in every locale."""
    for line in lines:
        if len(line) > LONGEST_LINE:
            continue
        if time := TIME.fullmatch(line):
            yield time["number"]
        elif (counted := COUNTED.match(line)) and counted["unit"]:
            yield counted["value"]


def known(line: str) -> bool:
    printed = take_apart(line, 0, ".") if len(line) <= LONGEST_LINE else None
    return printed is not None and bool(printed.event) and event_of(printed.event).known


def read_time(time: re.Match[str], line: int, blocks: Blocks) -> None:
    number = parse_decimal(time["number"])
    if number is not None:
        quantity = Quantity(TIMES[time["what"]], 1, "s")
        blocks.last.add("", figure_of(quantity, number, time["number"], line))
    blocks.last.repeated |= time["spread"] is not None


def take_apart(line: str, number: int, point: str) -> Printed | None:
    """None if perf prints no such line. `point`: the decimal mark of this file."""
    spread, line = SPREAD.search(line) is not None, SPREAD.sub("", line)
    share = RUNNING.search(line)
    line = line[: share.start()] if share else line
    running = parse_decimal(share[1]) if share else None
    left, mark, right = line.partition("#")
    counted = COUNTED.fullmatch(left)
    metric = METRIC.fullmatch(right) if mark else None
    if counted is None and metric is None:
        return None
    text = counted["value"] if counted else ""
    unit = (counted["unit"] or counted["old_unit"] or "") if counted else ""
    core = CORE.search(left)
    return Printed(
        number,
        counted["event"] if counted else "",
        unit,
        text,
        parse_decimal(text) if unit else parse_number(text, point),
        metric["unit"] if metric else "",
        metric["number"] if metric else "",
        parse_decimal(metric["number"]) if metric else None,
        core[1] if core else "",
        running.value if running else 100.0,
        spread,
    )

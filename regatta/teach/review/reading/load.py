"""The output of load generators, by the lines that each one prints (load.txt)."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from regatta.teach.review.figures import DESIGN, Reading, Record, ReportedFigure, parse_number
from regatta.teach.review.names import LATENCY, OTHER_NAMES, SECONDS, percentile

TOOLS = re.split(
    r"^\[(\w+)\]\n", (Path(__file__).parent / "load.txt").read_text("utf-8"), flags=re.M
)
SUMMED = ("clients", "errors", "lost", "answers", "requests")
"""Figures that may stand in several lines of one output."""
ONCE = ("rate", "bytes", "mean")
IN_BYTES = ("bytes", "transfer", "size")
KEPT = (*SUMMED, *IN_BYTES, "elapsed", "rate", "unconnected")  # beside latencies
UNITS = SECONDS | {"m": 60.0, "h": 3600.0}  # of times: wrk writes minutes and hours too
NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
VALUE = re.compile(rf"({NUMBER}) ?([A-Za-zµμ]*)(?:/s(?:ec)?)?")
SPECIAL = {"...": ".*?", "{url}": r"(?P<url>\S*)"}
SPECIAL |= {"{why}": "(?P<why>.+)", "{statistics}": "(?P<statistics>.+)"}
STATISTIC = re.compile(r"(avg|min|med|max|p\(([\d.]+)\))=(\S+)")
DOTS = re.compile(r"^\s*(?:[✓✗]\s)?(\w+)\.{2,}:")
LONGEST_LINE = 400


def pattern_of(line: str) -> re.Pattern[str]:
    made = ""
    for part in re.split(r"(\{\w+\}|\.\.\.| )", line.removeprefix("> ")):
        value = rf"(?P<{part[1:-1]}>{NUMBER} ?[A-Za-zµμ]*(?:/s(?:ec)?)?)"
        made += SPECIAL.get(part) or (value if part.startswith("{") else re.escape(part))
    return re.compile(made)


LINES = {
    tool: [(tool, pattern_of(line), line[0] == ">") for line in text.strip().splitlines()]
    for tool, text in zip(TOOLS[1::2], TOOLS[2::2], strict=True)
}
BEGINNINGS = [line for lines in LINES.values() for line in lines if line[2]]


class Run:
    """One output while it is read."""

    def __init__(self, file: str, line: int, tool: str) -> None:
        self.file, self.line, self.last, self.tool = file, line, line, tool
        self.is_open = False
        """Connections wait for a request to be due, or carry any number of them."""
        self.figures: dict[str, ReportedFigure] = {}
        self.url: list[str] = []

    def is_over(self, figures: Mapping[str, str], begins: bool) -> bool:
        """Whether a line with these figures belongs to another output of the same tool."""
        once = figures.keys() & ONCE
        return bool(once & self.figures.keys()) or (begins and not once and "rate" in self.figures)

    def take(self, groups: dict[str, str], line: int) -> None:
        self.last = line
        self.url += [groups["url"]] if "url" in groups else []
        self.is_open |= self.tool == "h2load" and groups.get("why", "").startswith("h2")
        for name, value in groups.items():
            self.add(name.rstrip("23") if name.startswith("lost") else name, value, line)

    def add(self, name: str, text: str, line: int) -> None:
        cell = VALUE.fullmatch(text)
        number = parse_number(cell[1]) if cell else None
        if cell is None or number is None or not (name in KEPT or LATENCY.fullmatch(name)):
            return
        unit, scale = "/s" if name == "rate" else cell[2], 1.0
        if name == "elapsed" or LATENCY.fullmatch(name):
            unit = unit or ("ms" if self.tool == "ab" else "")
            scale = UNITS.get(unit, 0.0)
        elif name in IN_BYTES:
            step = 1000 if self.tool == "k6" else 1024
            scale = float(step ** (" kmgt".find(unit[:1].lower()) if unit[:1] not in "bB" else 0))
        before = self.figures.get(name)
        if scale and (before is None or name in SUMMED):
            value = number.value * scale + (before.value if before else 0)
            half = 0.0 if number.half == 0.5 and scale == 1 else number.half * scale
            self.figures[name] = ReportedFigure(name, value, half, cell[1], unit, line)

    def record(self) -> Record | None:
        """None if these are not the figures of a run."""
        figures = self.figures
        if "rate" not in figures and not {"mean", "requests"} <= figures.keys():
            return None
        if self.is_open or self.tool == "wrk2":
            figures.pop("clients", None)
        keys = {DESIGN: Path(self.file).stem, "url": " ".join(self.url)}
        return Record(self.file, self.line, keys, figures, tool=self.tool)


def figures_in(found: re.Match[str]) -> dict[str, str]:
    """What a line tells, under the names of records."""
    groups = found.groupdict()
    for name, share, value in STATISTIC.findall(groups.pop("statistics", "")):
        groups[percentile(share) if share else OTHER_NAMES.get(name, name)] = value
    if "percent" in groups:
        groups[percentile(groups["percent"])] = groups.pop("at")
    if "status" in groups:
        groups["requests"] = groups["answers"]
        groups["errors"] = groups["answers"] if groups["status"] >= "400" else "0"
    if "lost" in groups and "why" in groups:
        groups["requests"] = groups["lost"]
        # Those that were under way at the end failed by no fault of the server.
        groups["lost"] = "0" if "deadline" in groups["why"] else groups["lost"]
    return groups


def read_load(file: str, lines: Sequence[str]) -> Reading | None:
    """All outputs of load generators in a file; what else it holds is skipped."""
    runs: list[Run] = []
    taken: set[int] = set()
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            continue
        text = DOTS.sub(r"\1:", " ".join(line.split()))
        tool = runs[-1].tool.removesuffix("2") if runs else ""
        for name, pattern, begins in (*LINES.get(tool, ()), *BEGINNINGS):
            if matched := pattern.fullmatch(text):
                groups = figures_in(matched)
                if name != tool or runs[-1].is_over(groups, begins):
                    runs.append(Run(file, number, name))
                runs[-1].take(groups, number)
                break
        if text.startswith("Thread calibration") and runs:
            runs[-1].tool = "wrk2"
    whole = [(run, record) for run in runs if (record := run.record())]
    for run, _ in whole:
        taken |= set(range(run.line, run.last + 1))
    names = ", ".join(dict.fromkeys(record.tool for _, record in whole))
    records = tuple(record for _, record in whole)
    return Reading(file, f"output of {names}", records, frozenset(taken)) if whole else None

"""The output of load generators: a table of the lines that each one prints."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from regatta.teach.review.figures import DESIGN, Reading, Record, ReportedFigure, parse_number
from regatta.teach.review.names import LATENCY, OTHER_NAMES, SECONDS, percentile

TOOLS = {
    "wrk": """
Running ... test @ {url}
{threads} threads and {clients} connections
Thread calibration: ...
Latency {mean} {stdev} {max} ...
{percent}% {at}
{requests} requests in {elapsed}, {bytes} read
Socket errors: connect {unconnected}, read {lost}, write {lost2}, timeout {lost3}
Non-2xx or 3xx responses: {errors}
Requests/sec: {rate}
Transfer/sec: {transfer}
""",
    "hey": """
Summary:
Total: {elapsed}
Slowest: {max}
Fastest: {min}
Average: {mean}
Requests/sec: {rate}
Total data: {bytes}
Size/request: {size}
{percent}% in {at}
{percent}%% in {at}
[{status}] {answers} responses
[{lost}] {why}
""",
    "h2load": """
starting benchmark...
finished in {elapsed}, {rate} req/s, {transfer}
spawning thread #{thread}: {clients} total client(s). ...
Application protocol: {why}
requests: {total} total, ... started, {requests} done, ... succeeded, {errors} failed, ...
traffic: ...({bytes}) total, ...
traffic: {bytes} bytes total, ...
time for request: {min} {max} {p50} {p95} {p99} {mean} {stdev} ...%
time for request: {min} {max} {mean} {stdev} ...%
""",
    "ab": """
This is ApacheBench, ...
Server Software:...
Server Hostname: {url}
Server Port: {url}
Document Path: {url}
Concurrency Level: {clients}
Time taken for tests: {elapsed}
Complete requests: {requests}
(Connect: {unconnected}, Receive: {lost}, Length: {length}, Exceptions: {lost2})
Non-2xx responses: {errors}
Total transferred: {bytes}
Requests per second: {rate} [#/sec] (mean)
Total: {min} {mean} {stdev} {p50} {max}
{percent}% {at}
{percent}% {at} (longest request)
""",
    "k6": """
execution: ...
data_received: {bytes} {transfer}
http_req_duration: {statistics}
http_req_failed: {share} ✓ {errors} ✗ {good}
http_req_failed: {share} {errors} out of {total}
http_reqs: {requests} {rate}
vus_max: {clients} ...
""",
}
BEGINS = {"wrk": 2, "hey": 1, "h2load": 2, "ab": 2, "k6": 6}
"""So many of a tool's lines may begin its output. oha prints what hey does."""
SUMMED = ("clients", "errors", "lost", "answers", "requests")
"""Figures that may stand in several lines of one output."""
IN_BYTES = ("bytes", "transfer", "size")
KEPT = (*SUMMED, *IN_BYTES, "elapsed", "rate", "unconnected")  # beside latencies
UNITS = SECONDS | {"m": 60.0, "h": 3600.0}  # of times: wrk writes minutes and hours too
NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
VALUE = re.compile(rf"({NUMBER}) ?([A-Za-zµμ]*)(?:/s(?:ec)?)?")
SPECIAL = {"...": ".*?", "{url}": r"(?P<url>\S*)"}
SPECIAL |= {"{why}": "(?P<why>.+)", "{statistics}": "(?P<statistics>.+)"}
STATISTIC = re.compile(r"(avg|min|med|max|p\(([\d.]+)\))=(\S+)")
ASKED = re.compile(r"(?:^|[\s$#>%❯▶/])(?:wrk2?|oha|h2load|ab|hey)\s+-.*")
OPTION = re.compile(r"\s(-[cmRq]|--connections|--clients|--concurrency|--rate)[ =]?(\d+)")
"""Of a command line, which tells what the output does not: streams, and a rate."""
DOTS = re.compile(r"^\s*(?:[✓✗]\s)?(\w+)\.{2,}:")
IGNORED = re.compile(
    r"\s*(Req/Sec|DNS|req |resp |progress:|status codes|time |req/s|Copyright|Document|Failed req|"
    r"Keep-Alive|HTML|Time per|Transfer|Connect:|Processing:|Waiting:|Licensed|Benchmarking|"
    r"[\d.]+%+ in|[\d.]+ (ms )?\[\d+\]|Success rate|Size/sec|http_req|iteration|data_sent|vus|"
    r"scenarios:|checks|Write err|TLS |Cipher|Server Temp|\* default:|\{ exp|Value |"
    r"[\d.]+\s+[01]\.\d{6}\s)"
)
"""What else these tools print."""
LONGEST_LINE = 400


def pattern_of(line: str) -> re.Pattern[str]:
    """`{name}` stands for a number with or without a unit, `...` for anything."""
    made = ""
    for part in re.split(r"(\{\w+\}|\.\.\.| )", line):
        value = rf"(?P<{part[1:-1]}>{NUMBER} ?[A-Za-zµμ]*(?:/s(?:ec)?)?)"
        made += SPECIAL.get(part) or (value if part.startswith("{") else re.escape(part))
    return re.compile(made)


LINES = {tool: [*map(pattern_of, text.strip().splitlines())] for tool, text in TOOLS.items()}


def read_load(file: str, lines: Sequence[str]) -> Reading | None:
    """All outputs of load generators in a file; what else it holds is skipped."""
    runs: list[Run] = []
    taken: set[int] = set()
    asked: dict[str, float] = {}
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            continue
        text = DOTS.sub(r"\1:", " ".join(line.split()))
        if command := ASKED.search(text):
            found = OPTION.findall(command[0])
            taken |= {number} if found else set()
            asked = {"-c" if name[:3] == "--c" else name: float(value) for name, value in found}
        for tool, count in BEGINS.items():
            begun = next((at for at in LINES[tool][:count] if at.fullmatch(text)), None)
            if begun and (not runs or runs[-1].ends_before(tool, begun)):
                runs.append(Run(file, number, tool, asked))
                asked = {}
        if runs and runs[-1].take(text, number):
            taken.add(number)
    records = tuple(record for run in runs if (record := run.record()))
    names = ", ".join(dict.fromkeys(record.tool for record in records))
    return Reading(file, f"output of {names}", records, frozenset(taken)) if records else None


class Run:
    """One output while it is read."""

    def __init__(self, file: str, line: int, tool: str, asked: Mapping[str, float]) -> None:
        self.file, self.line, self.tool, self.asked = file, line, tool, asked
        self.figures: dict[str, ReportedFigure] = {}
        self.url: list[str] = []

    def ends_before(self, tool: str, begun: re.Pattern[str]) -> bool:
        """Whether a line, which may begin an output, begins another than this one."""
        names = begun.groupindex.keys() & {"rate", "bytes", "statistics", "share"}
        names = {"mean" if name == "statistics" else name for name in names}
        has = names & self.figures.keys() if names else "rate" in self.figures
        return self.tool.removesuffix("2") != tool or bool(has)

    def take(self, text: str, line: int) -> bool:
        patterns = LINES[self.tool.removesuffix("2")]
        found = next((found for one in patterns if (found := one.fullmatch(text))), None)
        if found is None:
            return IGNORED.match(text) is not None
        groups = found.groupdict()
        self.url += [groups.pop("url")] if "url" in groups else []
        if text.strip().startswith("Thread calibration"):
            self.tool = "wrk2"
        why = groups.pop("why", "")
        if why == "h2" and "-c" not in self.asked:
            self.asked = {"-R": 0.0}  # with any number of streams
        for name, share, value in STATISTIC.findall(groups.pop("statistics", "")):
            groups[percentile(share) if share else OTHER_NAMES.get(name, name)] = value
        if "percent" in groups:
            groups[percentile(groups["percent"])] = groups.pop("at")
        if "status" in groups:
            groups["requests"] = groups["answers"]
            groups["errors"] = groups["answers"] if groups["status"] >= "400" else "0"
        if why and "lost" in groups:
            groups["requests"] = groups["lost"]
            # Those that were under way at the end failed by no fault of the server.
            groups["lost"] = "0" if "deadline" in why else groups["lost"]
        for name, value in groups.items():
            self.add(name.rstrip("23") if name.startswith("lost") else name, value, line)
        return True

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
        figures, asked = self.figures, self.asked
        if "rate" not in figures and not {"mean", "requests"} <= figures.keys():
            return None
        if self.tool == "wrk2" or {"-R", "-q", "--rate"} & asked.keys():
            figures.pop("clients", None)  # an open load: connections wait for a request to be due
        elif "clients" not in figures and "-c" in asked:
            figures["clients"] = ReportedFigure("clients", asked["-c"], 0, "", "", self.line)
        if "clients" in figures and self.tool == "h2load" and "-m" in asked:
            one = figures["clients"]
            figures["clients"] = replace(one, value=one.value * asked["-m"])
        keys = {DESIGN: Path(self.file).stem, "url": " ".join(self.url)}
        return Record(self.file, self.line, keys, figures, tool=self.tool)

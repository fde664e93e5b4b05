"""Other HTTP clients that `regatta-client` is compared with: h2load and oha, in a closed loop."""

import re
from dataclasses import dataclass

from bench.loads import Served, drive, read_json
from bench.servers import PATH, Load, Server, Serving
from bench.testbed import Figures, Testbed
from regatta.errors import TrialError
from regatta.measure import programs

OHA = "oha"


def read_h2load(printed: str) -> Served:
    """TrialError if a request failed: those would be counted too."""
    counts = re.search(r"requests: .* (\d+) succeeded, (\d+) failed, (\d+) errored", printed)
    per_s = re.search(r"finished in .*, ([\d.]+) req/s", printed)
    if counts is None or per_s is None:
        raise TrialError("h2load's output has an unexpected form")
    succeeded, *others = map(int, counts.groups())
    if any(others):
        raise TrialError(f"h2load: {sum(others)} requests failed")
    return Served(succeeded, float(per_s[1]))


@dataclass(frozen=True)
class H2load(Load):
    connections: int
    seconds: int = 1
    program, package = "h2load", "nghttp2-client"

    @property
    def name(self) -> str:
        return f"h2load, {self.connections} connections"

    def run(self, testbed: Testbed, _: Server, serving: Serving) -> Figures:
        command = [programs.need_tool("h2load", "nghttp2-client"), "--h1", "-t1"]
        command += ["-c", str(self.connections), "-D", str(self.seconds)]
        return drive(testbed, serving, [*command, f"http://{serving.target}{PATH}"], read_h2load)


def read_oha(printed: str) -> Served:
    """Requests that its deadline cuts off are neither counted nor failures."""
    found = read_json(printed)
    statuses = found["statusCodeDistribution"]
    if set(statuses) != {"200"}:
        raise TrialError(f"oha: answers by status: {statuses}")
    failures = set(found["errorDistribution"]) - {"aborted due to deadline"}
    if failures:
        raise TrialError(f"oha: {', '.join(sorted(failures))}")
    return Served(statuses["200"], float(found["summary"]["requestsPerSec"]))


def oha_command(connections: int, seconds: int, target: str, *options: str) -> list[str]:
    command = [OHA, "--no-tui", "--output-format", "json", "-c", str(connections)]
    return [*command, "-z", f"{seconds}s", *options, f"http://{target}{PATH}"]


def oha_lack() -> str | None:
    if programs.find_tool(OHA) is None:
        return "oha is missing; to install it: cargo install oha"
    return None


@dataclass(frozen=True)
class Oha(Load):
    connections: int
    seconds: int = 1

    @property
    def name(self) -> str:
        return f"oha, {self.connections} connections"

    def lack(self) -> str | None:
        return oha_lack()

    def run(self, testbed: Testbed, _: Server, serving: Serving) -> Figures:
        command = oha_command(self.connections, self.seconds, serving.target)
        return drive(testbed, serving, command, read_oha)

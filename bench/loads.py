"""The clients that drive servers, and parsers of their output.

A cost is the CPU time from before the client's start to after its end, divided by the requests that
the client reports. So connecting is included on both sides of every ratio. A server's CPU time is
that of its control group, as in a race.
"""

import csv
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from bench.idle_connections import holding
from bench.paths import BUILT
from bench.servers import PATH, Load, Ours, Server, Serving, serving
from bench.testbed import Figures, Testbed
from regatta.errors import TrialError
from regatta.measure import programs
from regatta.measure.accounts import process_tree

SERVER_CPU = "server CPU per request, µs"
CLIENT_CPU = "client CPU per request, µs"
THROUGHPUT = "requests per second"
BEYOND = "server CPU of work classic beyond snapshot, µs for each process read"
LATE = "start of requests after their time, 99th percentile, µs"


@dataclass(frozen=True)
class Served:
    requests: int
    per_s: float


def drive(
    testbed: Testbed, serving: Serving, command: list[str], read: Callable[[str], Served]
) -> Figures:
    """Runs a client against a server; returns the cost of a request on both sides."""
    before = serving.side.accounts()
    printed, client_ns = testbed.run_client(command)
    after = serving.side.accounts()
    served = read(printed)
    if served.requests == 0:
        raise TrialError(f"{command[0]} made no request")
    server_ns = process_tree.cpu_time_ns(before, after)
    return {
        SERVER_CPU: server_ns / 1000 / served.requests,
        CLIENT_CPU: client_ns / 1000 / served.requests,
        THROUGHPUT: served.per_s,
    }


def read_wrk(printed: str) -> Served:
    """TrialError if wrk reports errors, as its count of requests then includes failures."""
    for trouble in (r"Socket errors: .*", r"Non-2xx or 3xx responses: .*"):
        found = re.search(trouble, printed)
        if found:
            raise TrialError(f"wrk: {found[0]}")
    requests = re.search(r"(\d+) requests in ", printed)
    per_s = re.search(r"Requests/sec:\s+([\d.]+)", printed)
    if requests is None or per_s is None:
        raise TrialError("wrk's output has an unexpected form")
    return Served(int(requests[1]), float(per_s[1]))


@dataclass(frozen=True)
class Wrk(Load):
    """`closing`: a new connection for each request. `idle`: idle connections held meanwhile."""

    connections: int
    seconds: int = 1
    closing: bool = False
    idle: int = 0
    program = package = "wrk"

    @property
    def name(self) -> str:
        named = f"{self.connections:,} {'short ' if self.closing else ''}connections"
        return f"{named} beside {self.idle:,} idle" if self.idle else named

    def command(self, target: str) -> list[str]:
        command = [programs.need_tool("wrk", "wrk"), "-t1", f"-c{self.connections}"]
        command += ["-d", f"{self.seconds}s"]
        if self.closing:
            command += ["-H", "Connection: close"]
        return [*command, f"http://{target}{PATH}"]

    def run(self, testbed: Testbed, _: Server, serving: Serving) -> Figures:
        command = self.command(serving.target)
        if self.idle == 0:
            return drive(testbed, serving, command, read_wrk)
        with holding(testbed, serving, asks=False) as holder:
            holder.more(self.idle)
            return drive(testbed, serving, command, read_wrk)


def read_json(printed: str) -> dict[str, Any]:
    try:
        value = json.loads(printed)
    except ValueError as error:
        raise TrialError("the client's output is not JSON") from error
    if not isinstance(value, dict):
        raise TrialError("the client's JSON is not an object")
    return value


def read_get_client(printed: str) -> Served:
    summary = read_json(printed)
    return Served(int(summary["requests"]), summary["requests"] / summary["seconds"])


@dataclass(frozen=True)
class GetClient(Load):
    """get_client.c, which sends each server its own request."""

    connections: int
    seconds: int = 1

    @property
    def name(self) -> str:
        return f"get-client, {self.connections} connections"

    def run(self, testbed: Testbed, server: Server, serving: Serving) -> Figures:
        question = testbed.write("question", server.question)
        command = [str(BUILT / "get-client"), serving.target, str(self.connections)]
        command += [str(self.seconds), question, str(len(serving.reply))]
        return drive(testbed, serving, command, read_get_client)


def read_redis_benchmark(printed: str, requests: int) -> Served:
    """Its CSV does not include the number of requests, but it ends only after all of them."""
    try:
        (row,) = csv.DictReader(printed.splitlines())
        return Served(requests, float(row["rps"]))
    except (ValueError, KeyError) as error:
        raise TrialError("redis-benchmark's output has an unexpected form") from error


@dataclass(frozen=True)
class RedisBenchmark(Load):
    connections: int
    requests: int = 60_000
    program, package = "redis-benchmark", "redis-tools"

    @property
    def name(self) -> str:
        return f"redis-benchmark, {self.connections} connections"

    def run(self, testbed: Testbed, server: Server, serving: Serving) -> Figures:
        key = server.question.split(b"\r\n")[-2].decode()
        command = [programs.need_tool("redis-benchmark", "redis-tools"), "-h", testbed.host]
        command += ["-p", str(serving.port), "-c", str(self.connections)]
        command += ["-n", str(self.requests), "--csv", "get", key]
        return drive(
            testbed, serving, command, lambda text: read_redis_benchmark(text, self.requests)
        )


def read_regatta_client(printed: str) -> Served:
    summary = read_json(printed)
    if summary["answered"] != summary["requests"]:
        wrong = summary["requests"] - summary["answered"]
        raise TrialError(f"regatta-client: {wrong} of {summary['requests']} requests failed")
    return Served(summary["requests"], float(summary["throughput_per_s"]))


def regatta_client(connections: int, target: str, *options: str) -> list[str]:
    command = [str(programs.find("regatta-client")), "--engine", "epoll", "--json"]
    return [*command, "-c", str(connections), *options, target]


@dataclass(frozen=True)
class RegattaClient(Load):
    called: str
    connections: int
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.called

    def run(self, testbed: Testbed, _: Server, serving: Serving) -> Figures:
        command = regatta_client(self.connections, serving.target, *self.options)
        return drive(testbed, serving, command, read_regatta_client)


def burst(connections: int, rounds: int = 3) -> RegattaClient:
    """All connect at once, send one request in the line dialect and close."""
    name = f"regatta-client, bursts of {connections}"
    return RegattaClient(name, connections, ("--rounds", str(rounds)))


def closed(connections: int) -> RegattaClient:
    """The same connections and requests as wrk."""
    options = ("--dialect", "http", "--load", "closed", "--duration", "1")
    return RegattaClient(f"regatta-client, {connections} connections", connections, options)


# Over HTTP, without a check of the body.
ANY_ANSWER = ("--dialect", "http", "--path", PATH)


def staying(connections: int, seconds: float) -> RegattaClient:
    """Keep-alive connections in a closed loop."""
    options = (*ANY_ANSWER, "--load", "closed", "--duration", str(seconds))
    return RegattaClient(f"{connections} connections that stay", connections, options)


def newcomers(rate: int, seconds: float, connections: int) -> RegattaClient:
    """Short connections at a fixed rate, with one request each.

    The rate is one that every server sustains, not its maximum. So a faster server gets no more
    requests, nor more clients that wait at once.
    """
    options = (*ANY_ANSWER, "--load", "open", "--rate", str(rate), "--per-connection", "1")
    name = f"{rate:,} short connections a second"
    return RegattaClient(name, connections, (*options, "--duration", str(seconds)))


def read_lateness(printed: str) -> float:
    """How late the client itself started requests; waits for a busy server are not included."""
    summary = read_json(printed)
    read_regatta_client(printed)
    return float(summary["late_ns"]["p99"]) / 1000


@dataclass(frozen=True)
class HalfOpen(Load):
    """regatta-client with an open load at half its capacity.

    Its capacity is one second divided by its CPU time per request in a preceding closed load.
    """

    connections: int
    seconds: int = 2

    @property
    def name(self) -> str:
        return f"regatta-client at half its capacity, {self.connections} connections"

    def run(self, testbed: Testbed, server: Server, serving: Serving) -> Figures:
        cost_us = closed(self.connections).run(testbed, server, serving)[CLIENT_CPU]
        options = ["--dialect", "http", "--load", "open", "--rate", str(round(1e6 / cost_us / 2))]
        options += ["--duration", str(self.seconds)]
        printed, _ = testbed.run_client(regatta_client(self.connections, serving.target, *options))
        return {LATE: read_lateness(printed)}


ALL = b"GET /top?n=1&format=json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def processes_read(testbed: Testbed, serving: Serving) -> int:
    """How many processes the server reads for a request, including its own."""
    reply = testbed.ask(serving.port, ALL)
    try:
        return int(json.loads(reply.partition(b"\r\n\r\n")[2])["tasks_seen"])
    except (ValueError, KeyError) as error:
        raise TrialError("the server did not report how many processes it read") from error


@dataclass(frozen=True)
class BeyondSnapshot(Load):
    """What the work `classic` costs beyond `snapshot`, for each process that is read.

    One client at a time, then the same against a fresh server that differs only in its work, to
    subtract the design's own cost. Processes of the server itself are read with all others
    (docs/decisions.md).
    """

    burst: RegattaClient = burst(1, rounds=300)

    @property
    def name(self) -> str:
        return f"{self.burst.name}, beyond snapshot"

    def run(self, testbed: Testbed, server: Server, started: Serving) -> Figures:
        assert isinstance(server, Ours)
        read = processes_read(testbed, started)
        worked = self.burst.run(testbed, server, started)
        idle = replace(server, work="snapshot")
        with serving(testbed, idle) as other:
            answered = self.burst.run(testbed, idle, other)
        return {BEYOND: (worked[SERVER_CPU] - answered[SERVER_CPU]) / read}

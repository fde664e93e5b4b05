"""What can be asked beyond the number of rows, in both dialects of every design."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.answers import Answer, ask_http, ask_line
from tests.http_replies import parse_replies
from tests.servers import Server

ASKS = pytest.mark.parametrize("ask", [ask_line, ask_http], ids=["line", "http"])
Ask = Callable[[Server, list[str]], Answer]

GOOD = [
    ["n=5", "by=recent", "window=1s"],
    ["n=64", "group=name"],
    ["n=3", "group=unit", "by=recent"],
    ["n=3", "group=cgroup", "format=json"],
    ["n=16", "threads=1", "command=1"],
    ["n=2", "threads=1", "command=1", "by=recent", "window=60s", "format=json"],
]


@ASKS
@pytest.mark.parametrize("parameters", GOOD, ids=" ".join)
def test_what_is_asked_for_is_answered(server: Server, ask: Ask, parameters: list[str]) -> None:
    answer = ask(server, parameters)
    rows = int(parameters[0].removeprefix("n="))
    assert 1 <= len(answer.rows) <= rows
    assert ("group" in answer.title) == any("group" in asked for asked in parameters)
    assert (answer.elapsed is not None) == ("by=recent" in parameters)
    assert [row.us for row in answer.rows] == sorted((r.us for r in answer.rows), reverse=True)
    has_threads, has_command = "threads=1" in parameters, "command=1" in parameters
    assert any(row.threads for row in answer.rows) == has_threads
    if not has_command:
        assert all(row.command is None for row in answer.rows)


BAD = {
    "n=0": "n must be a number from 1 to 64",
    "n=999999": "n must be a number from 1 to 64",
    "n=-1": "n must be a number from 1 to 64",
    "n=two": "n must be a number from 1 to 64",
    "format=xml": "format must be text or json",
    "by=recent window=0s": "window must be from 1s to 60s, in whole seconds",
    "window=10s": "window goes with by=recent only",
    "group=user": "group must be name, cgroup or unit",
    "by=recent by=total": "by is given twice",
    "threads=1 n=17": "threads=1 is for 16 rows at most",
    "group=name command=1": "threads and command are of processes: they do not go with group",
    "colour=1": "unknown parameter; there are n, format, by, window, group, threads and command, "
    "each as NAME=VALUE",
}


def test_what_cannot_be_asked_is_refused_in_one_line(server: Server) -> None:
    for parameters, complaint in BAD.items():
        told = server.ask(f"top {parameters}\n".encode())
        assert told == f"error: {complaint}\n\n".encode()
        target = "/top?" + parameters.replace(" ", "&")
        request = f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        first, second = parse_replies(server.ask(request * 2))  # the connection stays
        assert (first.status, first.body) == (400, complaint.encode() + b"\n")
        assert second.status == 400

"""The parameters of a query, in both dialects of every design."""

from collections.abc import Callable

import pytest

from tests.answers import Answer, ask_http, ask_line
from tests.servers import RunningServer

ASKS = pytest.mark.parametrize("ask", [ask_line, ask_http], ids=["line", "http"])
Ask = Callable[[RunningServer, list[str]], Answer]

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
def test_the_reply_matches_the_query(
    server: RunningServer, ask: Ask, parameters: list[str]
) -> None:
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

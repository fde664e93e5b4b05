"""The parameters of a query, in both dialects of every design."""

from tests.answers import ask_http, ask_line
from tests.servers import RunningServer

QUERIES = (
    ["n=5", "by=recent", "window=1s"],
    ["n=64", "group=name"],
    ["n=3", "group=unit", "by=recent"],
    ["n=3", "group=cgroup", "format=json"],
    ["n=16", "threads=1", "command=1"],
    ["n=2", "threads=1", "command=1", "by=recent", "window=60s", "format=json"],
)


def test_the_reply_matches_the_query(server: RunningServer) -> None:
    for asked in QUERIES:
        for ask in (ask_line, ask_http):
            answer = ask(server, asked)
            assert 1 <= len(answer.rows) <= int(asked[0].removeprefix("n="))
            assert ("group" in answer.title) == any("group" in parameter for parameter in asked)
            assert (answer.elapsed is not None) == ("by=recent" in asked)
            assert [row.us for row in answer.rows] == sorted(
                (row.us for row in answer.rows), reverse=True
            )
            assert any(row.threads for row in answer.rows) == ("threads=1" in asked)
            if "command=1" not in asked:
                assert all(row.command is None for row in answer.rows)

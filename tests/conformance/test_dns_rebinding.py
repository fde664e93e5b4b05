"""DNS rebinding: without a token, HTTP requests are answered only if their Host is an address or a
known name of this server. Which names are known, and every form: tests/unit/exchange."""

import socket

from tests.http_replies import parse_replies
from tests.servers import Start

ASKED = (
    ("/top", "127.0.0.1:7342", "1.1", 200),
    ("/top", "metrics.EXAMPLE.:443", "1.1", 200),
    ("/top", socket.gethostname(), "1.1", 200),
    ("/top?command=1", "evil.example", "1.1", 421),
    ("/metrics", "localhost.evil.example", "1.1", 421),
    ("http://evil.example/top", "localhost", "1.1", 421),
    ("/healthz", "evil.example", "1.1", 200),
    ("/top", "evil.example", "1.0", 421),  # the last one, as it closes
)


def test_requests_for_another_host_are_refused(start: Start) -> None:
    """One line says what to do, the connection stays open, and each counts as denied."""
    server = start("--work", "snapshot", "--host", "metrics.example,DB1", "--host", "db2.")
    asked = [
        f"GET {target} HTTP/{version}\r\nHost: {host}\r\n\r\n" for target, host, version, _ in ASKED
    ]
    replies = parse_replies(server.ask("".join(asked).encode()))
    wanted = [status for *_, status in ASKED]
    assert [reply.status for reply in replies] == wanted
    for reply in replies:
        if reply.status == 421:
            assert reply.body.count(b"\n") == 1
            assert b"--host NAME" in reply.body
    summary = server.stop()
    assert summary["errors"].pop("denied") == wanted.count(421)
    assert sum(summary["errors"].values()) == 0
    assert summary["requests"] == len(ASKED)

"""DNS rebinding: without a token, HTTP requests are answered only if their Host is an address or a
known name of this server."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http_replies import only_reply, parse_replies
from tests.servers import ListedDesign, RunningServer, Start, rows_of, running
from tests.tokens import TOKEN, token_file

OWN = ("127.0.0.1", "127.0.0.1:7342", "[::1]:80", "localhost", "LocalHost.:7342")
LISTED = ("metrics.example", "METRICS.Example.:443", "db1", "db2:80")
STRANGE = ("evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "[evil.example]")


@pytest.fixture(scope="module")
def named(
    design: ListedDesign, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server with --host, shared by the tests of this file."""
    options = ("--work", "snapshot", "--host", "metrics.example,DB1", "--host", "db2.")
    folder = tmp_path_factory.mktemp(f"named-{design.name}")
    with running(folder, "--design", design.name, *options) as started:
        yield started


def get(target: str, host: str | None, version: str = "1.1", header: str = "") -> bytes:
    named = f"Host: {host}\r\n" if host is not None else ""
    return f"GET {target} HTTP/{version}\r\n{named}{header}\r\n".encode()


def is_answered(server: RunningServer, request: bytes) -> bool:
    """If not, the reply must be one line that says what to do."""
    reply = only_reply(server.ask(request))
    if reply.status == 200:
        assert len(rows_of(reply.body + b"\n")) == 2
        return True
    assert reply.status == 421
    assert reply.body.count(b"\n") == 1
    assert b"--host NAME" in reply.body
    return False


@pytest.mark.parametrize("host", [*OWN, *LISTED, socket.gethostname()])
def test_requests_for_this_host_are_answered(named: RunningServer, host: str) -> None:
    assert is_answered(named, get("/top", host))
    assert is_answered(named, get("/top", host, "1.0"))


@pytest.mark.parametrize("host", STRANGE)
def test_requests_for_another_host_are_refused(named: RunningServer, host: str) -> None:
    assert not is_answered(named, get("/top?command=1", host))
    assert not is_answered(named, get("/top?command=1&format=json", host, "1.0"))
    assert not is_answered(named, get("/metrics", host))


def test_without_the_option_only_the_own_host_name_is_known(server: RunningServer) -> None:
    assert is_answered(server, get("/top", socket.gethostname().upper()))
    assert not is_answered(server, get("/top", "metrics.example"))


def test_the_host_in_an_absolute_target_overrides_the_header(named: RunningServer) -> None:
    assert not is_answered(named, get("http://evil.example/top", "localhost"))
    assert not is_answered(named, get("http://evil.example/top", None, "1.0"))
    assert is_answered(named, get("http://db1:7342/top", "evil.example"))


def test_the_host_is_optional_in_http_1_0_only(named: RunningServer) -> None:
    assert is_answered(named, get("/top", None, "1.0"))
    assert only_reply(named.ask(get("/top", None))).status == 400


def test_healthz_and_404_do_not_depend_on_the_host(named: RunningServer) -> None:
    for host in ("localhost", "evil.example"):
        assert only_reply(named.ask(get("/healthz", host))).body == b"ok\n"
        assert only_reply(named.ask(get("/nothing", host))).status == 404


def test_a_connection_stays_open_after_a_foreign_host(named: RunningServer) -> None:
    asked = [get("/top", host) for host in ("db1", "evil.example", "db1")]
    replies = parse_replies(named.ask(b"".join(asked)))
    assert [reply.status for reply in replies] == [200, 421, 200]


def test_with_the_token_any_host_is_accepted(start: Start, tmp_path: Path) -> None:
    server = start("--work", "snapshot", "--token-file", str(token_file(tmp_path)))
    header = f"Authorization: Bearer {TOKEN}\r\n"
    for host in (*OWN, *STRANGE):
        assert is_answered(server, get("/top", host, header=header))
        assert only_reply(server.ask(get("/top", host))).status == 401


def test_foreign_hosts_are_counted_as_denied(start: Start) -> None:
    server = start("--work", "snapshot")
    server.ask(get("/top", "evil.example") * 2 + get("/top", "localhost"))
    summary = server.stop()
    assert summary["errors"].pop("denied") == 2
    assert sum(summary["errors"].values()) == 0
    assert summary["requests"] == 3

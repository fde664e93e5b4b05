"""What regatta-client asks of a server and says of it, where a line of the table in
test_client_replies.py does not do: rounds, lists of requests, uploads, tokens, addresses."""

import json
import socket
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.commands import run
from tests.e2e.hosts_file import with_hosts, within
from tests.e2e.scripted_servers import (
    BODY,
    CHUNKED_HEAD,
    CLOSED,
    OK,
    REPLIES,
    TO_END,
    address_of,
    always,
    answering_lines,
    asking,
    client,
    errors,
    expected,
    http,
    once,
    open_load,
    read_head,
    read_request,
    refusing_port,
    result_of,
    serving,
    shown_by,
)
from tests.servers import program, running


def test_every_connection_of_every_round_asks_once(engine: str, dialect: str) -> None:
    with serving(once(REPLIES[dialect])) as server:
        result, status = result_of(server, "-c 20 --rounds 3", engine, dialect)
        assert server.accepted == 60
    assert status == 0
    assert (result["requests"], result["answered"], result["errors"]) == (60, 60, errors())
    assert result["connections_opened"] == 60
    assert result["bytes_received"] == 60 * len(REPLIES[dialect])
    assert (result["connections"], result["rounds"]) == (20, 3)
    assert (result["engine"], result["load"], result["dialect"]) == (engine, "burst", dialect)
    assert result["target"] == server.address


@pytest.mark.parametrize("per_connection", [0, 4])
def test_a_closed_load_keeps_its_connections_for_so_many_requests(
    engine: str, dialect: str, per_connection: int
) -> None:
    counts: dict[int, int] = {}
    load = f"-c 3 --load closed --duration 0.3 --per-connection {per_connection}"
    with serving(always(REPLIES[dialect], counts)) as server:
        result, status = result_of(server, load, engine, dialect)
    assert status == 0
    assert result["requests"] == result["answered"] == sum(counts.values())
    assert result["connections_opened"] == len(counts)
    assert (result["duration_ns"], result["per_connection"]) == (300_000_000, per_connection)
    assert 0.1e9 < result["elapsed_ns"] < 5e9  # a busy machine takes longer
    if per_connection:
        assert len(counts) > 3
        assert sorted(counts.values())[3:] == [4] * (len(counts) - 3)  # three ended with the load
    else:
        assert len(counts) == 3
        assert min(counts.values()) > 1


def test_a_refused_port_is_a_connect_error_with_advice_and_costs_no_cpu(engine: str) -> None:
    with refusing_port() as address:
        finished = client("--engine", engine, "-c", "3", "--json", address)
        closed, status = result_of(address, "--load closed --duration 0.5", engine)
    assert (finished.returncode, status) == (1, 1)
    assert json.loads(finished.stdout)["errors"] == errors(connect=3)
    assert json.loads(finished.stdout)["connections_opened"] == 0
    assert f"check that a regatta-server runs at {address}\n" in finished.stderr
    assert 1 <= closed["errors"]["connect"] <= 11
    assert closed["usage"]["self"]["user_ns"] + closed["usage"]["self"]["system_ns"] < 0.2e9


def test_a_server_that_does_not_accept_is_a_connect_error(engine: str) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        result, status = result_of(address_of(listener), "-c 6 --timeout 300", engine)
    found = result["errors"]
    assert status == 1
    assert found == errors(connect=found["connect"], timeout=6 - found["connect"])
    assert found["connect"] >= 3


def test_an_open_load_accepts_replies_that_end_with_their_connection() -> None:
    with serving(once(TO_END)) as server:
        result, status = result_of(server, f"--path / -c 3 {open_load(100, 0.3)}", dialect="http")
    # A busy machine may not start the last requests.
    assert (status, result["answered"]) == (0, 30 - result["unstarted"])
    assert result["connections_opened"] >= result["answered"] > 0


def test_the_body_is_printed_with_escaped_control_characters(engine: str) -> None:
    with serving(always(http(b"one\n\x1b[2Jtwo\n\xff"))) as server:
        shown = shown_by("--engine", engine, "--dialect", "http", "--path", "/", server.address)
    assert "\n  one\n  \\x1b[2Jtwo\n  \\xff\n" in shown


def test_our_own_server_answers_any_line(engine: str, tmp_path: Path) -> None:
    with running(tmp_path) as server:
        asked = ("--request", "top 3 threads=1", "--engine", engine)
        assert "rank pid" in shown_by(*asked, server.address)
        result, status = result_of(server, "--request nonsense", engine)
    assert (status, result["errors"]) == (1, errors(refused=1))


def test_a_line_is_sent_as_it_is_and_a_reply_that_is_too_long_to_show_is_cut(engine: str) -> None:
    seen: list[bytes] = []
    long = b"\x1b[2Jtwo\n" + b"".join(b"line %d\n" % number for number in range(20_000))
    with serving(answering_lines(long, seen, closes=True)) as server:
        shown = shown_by("--request", "GET it, please", "--engine", engine, server.address)
    assert seen == [b"GET it, please\n"]
    lines = shown.splitlines()
    assert "  \\x1b[2Jtwo" in lines
    numbers = [
        int(line.split()[1])
        for line in lines[: lines.index("  ... (cut)")]
        if line.startswith("  line ")
    ]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 1000


MIX = r"""# a mix
6 GET /a HTTP/1.1\r\n\r\n
2 POST /items HTTP/1.1\r\nContent-Type: text/plain\r\n\r\nh\xc3\xa4\x00
2 HEAD /a HTTP/1.1\r\nHost: other\r\n\r\n
2 DELETE /a HTTP/1.1\r\n\r\n
"""
ANSWERS = {
    b"GET": CHUNKED_HEAD + b"2\r\nok\r\n0\r\n\r\n",
    b"POST": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
    b"HEAD": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
    b"DELETE": b"HTTP/1.1 204 No Content\r\n\r\n",
}


@pytest.mark.parametrize("load", ["--rounds 4", "--load closed --duration 0.3 --per-connection 6"])
def test_requests_of_a_file_are_sent_whole_and_in_proportion(
    engine: str, tmp_path: Path, load: str
) -> None:
    """What the client adds to each, and their order: tests/unit/client/test_request.c."""
    seen: list[bytes] = []

    def handler(connection: socket.socket, _number: int) -> None:
        with connection.makefile("rb") as file:
            while (found := read_head(file))[0]:
                seen.append(found[0] + file.read(found[1]))
                connection.sendall(ANSWERS[found[0].split()[0]])

    (tmp_path / "mix").write_text(MIX)
    options = f"--requests {tmp_path / 'mix'} --host localhost:80 -c 3 {load}"
    with serving(handler) as server:
        result, status = result_of(server, options, engine, "http")
    assert (status, result["errors"]) == (0, errors())
    counts = Counter(request.split()[0] for request in seen)
    turns = len(seen) / 6
    assert abs(counts[b"GET"] - 3 * turns) <= 3
    assert all(abs(counts[method] - turns) <= 3 for method in (b"POST", b"HEAD", b"DELETE"))
    posted = next(request for request in seen if request.startswith(b"POST"))
    assert posted.startswith(b"POST /items HTTP/1.1\r\nHost: localhost:80\r\n")
    assert posted.endswith(b"Content-Length: 4\r\nContent-Type: text/plain\r\n\r\nh\xc3\xa4\0")


def test_each_request_of_a_list_has_its_own_expected_reply(engine: str, tmp_path: Path) -> None:
    replies = {
        b"/a": http(BODY),
        b"/b": http(b"", status=b"303 See Other"),
        b"/c": b"HTTP/1.1 204 No Content\r\n\r\n",
        b"/d": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",  # to HEAD
    }

    def handler(connection: socket.socket, _number: int) -> None:
        while request := read_request(connection):
            connection.sendall(replies[request.split(b" ")[1]])

    asked = ("3 GET /a", "1:404 GET /b", "2 GET /c", "1 HEAD /d")
    right = [expected(), expected(b"", 303), expected(b"", 204), expected(b"")]
    for name, text in {
        "asked": "".join(f"{text} HTTP/1.1\\r\\n\\r\\n\n" for text in asked),
        "right": "".join(right),
        "wrong": "".join(right[1:] + right[:1]),
    }.items():
        (tmp_path / name).write_text(text)
    options = f"--requests {tmp_path}/asked {CLOSED} --expect {tmp_path}"
    with serving(handler) as server:
        result, status = result_of(server, f"{options}/right", engine, "http")
        assert (status, result["errors"]) == (0, errors())
        result, status = result_of(server, f"{options}/wrong", engine, "http")
    assert (status, result["answered"]) == (1, 0)
    assert result["errors"] == errors(changed=result["requests"])


def test_the_same_reply_may_be_right_to_one_request_and_wrong_to_another(
    engine: str, tmp_path: Path
) -> None:
    """Of the epoll engine's known replies, the first request's and the 17th's have one place."""
    statuses = [200] * 16 + [404]
    text = "".join(f"1:{status} GET / HTTP/1.1\\r\\n\\r\\n\n" for status in statuses)
    (tmp_path / "asked").write_text(text)
    options = f"--requests {tmp_path}/asked --rounds {2 * len(statuses)}"
    with serving(always(OK)) as server:
        result, _ = result_of(server, options, engine, "http")
    assert (result["answered"], result["errors"]) == (32, errors(refused=2))


NARROW = """
import json, socket, subprocess, sys
from pathlib import Path
from tests.e2e.scripted_servers import http, result_of, serving
from tests.e2e.scripted_servers import answering_first
Path("/proc/sys/net/ipv4/tcp_wmem").write_text("4096 4096 4096")
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
taken = []
options, engine, reply = sys.argv[1:]
with serving(answering_first(taken, http(b"ok", status=reply.encode()))) as server:
    server.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    server.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 100)
    result, status = result_of(server, options, engine, "http")
print(json.dumps([status, result, sorted({line.decode() for line in taken})]))
"""
"""Runs a load where only a few kB of an upload are on their way, and prints what came of it."""


@pytest.mark.parametrize(
    ("size", "reply", "kind"),
    [
        (60_000, "200 OK", "answered"),
        (900_000, "200 OK", "early"),
        (900_000, "413 Content Too Large", "answered"),  # it declines, and need not read
    ],
)
def test_no_request_begins_behind_half_an_upload(
    engine: str, tmp_path: Path, size: int, reply: str, kind: str
) -> None:
    (tmp_path / "asked").write_text(asking("POST", "a" * size, reply[:3])["asked"])
    options = f"--requests {tmp_path / 'asked'} {CLOSED} -c 2 --timeout 1000"
    done = run(*within("--net"), sys.executable, "-c", NARROW, options, engine, reply)
    status, result, taken = json.loads(done.stdout)
    assert taken == ["POST / HTTP/1.1"]
    assert result["requests"] > 2
    found = {"answered": result["answered"], **result["errors"]}
    assert {name: count for name, count in found.items() if count} == {kind: result["requests"]}
    assert status == (kind == "early")


@pytest.mark.parametrize("sources", [(), ("--sources", "127.0.0.2", "--timeout", "100")])
def test_a_name_is_asked_at_the_address_that_answers_or_fits_the_sources(
    engine: str, tmp_path: Path, sources: tuple[str, ...]
) -> None:
    """The name lists an address of another family first. With sources, a server is on both."""
    bound = with_hosts(tmp_path, "::1 two-of-them\n127.0.0.1 two-of-them\n")
    how = ("--engine", engine, "--dialect", "http", "--path", "/", "--quiet", *sources)
    with serving(always(OK)) as server, socket.socket(socket.AF_INET6) as other:
        port = server.address.split(":")[1]
        if sources:
            other.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            other.bind(("::1", int(port)))
            other.listen()
        done = run(*bound, program("regatta-client"), *how, f"two-of-them:{port}")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"1 request to 127.0.0.1:{port} " in done.stdout

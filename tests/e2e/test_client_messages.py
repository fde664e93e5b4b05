"""WebSocket and gRPC: against servers of maintained libraries, and against those that break the
rules."""

import base64
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run, run_well
from tests.e2e.racing import environment, needs_programs, needs_two_cpus, regatta
from tests.e2e.scripted_servers import client, read_request, refusal, serving
from tests.servers import needs, program
from tests.sockets import free_port, wait_until_accepting

SCRIPT = Path(__file__).with_name("messages_server.py")
CLOSED = ("--load", "closed", "--duration", "0.3")
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
FIN = 0x80

pytestmark = needs_programs


@contextmanager
def messages(kind: str, *more: str) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, str(SCRIPT), kind, str(port), *more]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE) as server:
        try:
            wait_until_accepting(server, port)
            yield f"127.0.0.1:{port}"
        finally:
            server.kill()


def asked(address: str, *options: str) -> dict[str, Any]:
    """All are answered."""
    done = client("--dialect", "http", "--json", *options, address)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["answered"] == found["requests"] > 0
    return found


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 1 << 20])
@pytest.mark.parametrize("kind", ["text", "binary"])
def test_a_message_of_any_size_comes_back(tmp_path: Path, size: int, kind: str) -> None:
    body = b"\xff" * size if kind == "binary" else ("é" * size).encode()[:size] or b""
    (tmp_path / "message").write_bytes(body)
    with messages("ws") as address:
        found = asked(
            f"ws://{address}", "-c", "2", "--rounds", "2", "--body", f"{tmp_path}/message"
        )
    assert found["requests"] == 4
    assert found["bytes_received"] >= 4 * size


def test_connections_stay_or_are_new() -> None:
    with messages("ws") as address:
        kept = asked(f"ws://{address}", "-c", "3", *CLOSED)
        short = asked(f"ws://{address}", "-c", "3", *CLOSED, "--per-connection", "1")
        due = asked(f"ws://{address}", "-c", "3", "--load", "open", "--rate", "300", *CLOSED[2:])
    assert (kept["connections_opened"], due["connections_opened"]) == (3, 3)
    assert short["connections_opened"] == short["requests"] > 3


def test_over_tls(tmp_path: Path) -> None:
    certificate = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x"
    files = (tmp_path / "cert", tmp_path / "key")
    run_well(needs("openssl"), *certificate.split(), "-keyout", files[1], "-out", files[0])
    with messages("ws", "0", *map(str, files)) as address:
        found = asked(f"wss://{address}", "--insecure", "-c", "3", *CLOSED)
    assert found["tls"].startswith("TLSv1.3")


def test_the_message_is_shown() -> None:
    with messages("ws") as address:
        done = client(f"ws://{address}")
    assert "  hello\n" in done.stdout
    assert "(burst, epoll, websocket): answered" in done.stdout


# Servers of single frames (RFC 6455).


def frame(opcode: int, payload: bytes, flags: int = FIN) -> bytes:
    return bytes([flags | opcode, len(payload)]) + payload


def accept(connection: socket.socket) -> bytes:
    """The opening handshake; returns the request's."""
    head = read_request(connection)
    found = re.search(rb"Sec-WebSocket-Key: (\S+)\r\n", head)
    assert found, head
    proof = base64.b64encode(hashlib.sha1(found[1] + GUID).digest()).decode()
    connection.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + f"sec-websocket-accept:{proof}\r\n\r\n".encode()
    )
    return head


def accepting(
    *answers: Callable[[bytes], bytes], seen: list[bytes] | None = None
) -> Callable[[socket.socket, int], None]:
    """Sends what each gives for one message after the other, and closes."""

    def handler(connection: socket.socket, _number: int) -> None:
        head = accept(connection)
        if seen is not None:
            seen.append(head)
        for answer in answers:
            if not (message := received(connection, seen)):
                return
            connection.sendall(answer(message))
        received(connection, seen)

    return handler


def received(connection: socket.socket, seen: list[bytes] | None = None) -> bytes:
    """The next message of fewer than 126 bytes; b"" at the end."""
    with connection.makefile("rb") as sent:
        while head := sent.read(2):
            mask = sent.read(4)
            body = bytes(b ^ mask[i % 4] for i, b in enumerate(sent.read(head[1] & 0x7F)))
            if seen is not None:
                seen.append(bytes([head[0] & 15]) + body)
            if head[0] & 15 in {TEXT, BINARY}:
                return body
    return b""


def echo(message: bytes) -> bytes:
    return frame(TEXT, message)


def test_the_opening_handshake_is_an_upgrade_of_the_request(tmp_path: Path) -> None:
    token, seen = tmp_path / "token", list[bytes]()
    token.write_text("secret-secret-secret\n")
    token.chmod(0o600)
    with serving(accepting(echo, seen=seen)) as server:
        words = ("--path", "/chat?x=1", "--host", "example.org", "--token-file", str(token))
        asked(f"ws://{server.address}", *words)
    head = seen[0].decode().split("\r\n")
    assert head[0] == "GET /chat?x=1 HTTP/1.1"
    assert {
        "Host: example.org",
        "Authorization: Bearer secret-secret-secret",
        "Upgrade: websocket",
    } < {*head}
    assert seen[1:] == [b"\x01hello", bytes([CLOSE]) + b"\x03\xe8"]


def test_pings_and_pieces_are_no_answers() -> None:
    seen: list[bytes] = []

    def in_pieces(message: bytes) -> bytes:
        parts = frame(TEXT, message[:2], 0), frame(PING, b"p"), frame(0, message[2:])
        return frame(PING, b"a" * 125) + b"".join(parts)

    with serving(accepting(in_pieces, echo, seen=seen)) as server:
        asked(f"ws://{server.address}", "--load", "closed", "--duration", "0.05")
    assert {bytes([PONG]) + b"a" * 125, bytes([PONG]) + b"p"} < {*seen}


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (lambda _: frame(TEXT, b"hullo"), "malformed", "not the message that was sent"),
        (lambda m: frame(TEXT, m + b"!"), "malformed", "not the message that was sent"),
        (lambda m: echo(m) + echo(m), "malformed", "more messages came back than were sent"),
        (lambda m: frame(TEXT, m, 0xC0), "malformed", "breaks the protocol"),
        (lambda m: bytes([FIN | TEXT, FIN | 5]) + b"\0\0\0\0" + m, "malformed", "breaks"),
        (lambda _: bytes([FIN | TEXT, 127]) + b"\x7f" * 9, "malformed", "breaks the protocol"),
        (lambda _: frame(3, b"x"), "malformed", "breaks the protocol"),
        (lambda _: frame(TEXT, b"\xff\xff\xff\xff\xff"), "malformed", "breaks the protocol"),
        (
            lambda _: frame(CLOSE, b"\x03\xe9" + b"going away" * 9),
            "closed",
            "the server closed the connection",
        ),
        (lambda _: b"", "timeout", "no complete reply in time"),
        (lambda m: echo(m)[:-1], "timeout", "no complete reply in time"),
    ],
)
def test_a_server_that_breaks_the_rules_is_one_failure_and_one_line(
    answer: Callable[[bytes], bytes], kind: str, says: str
) -> None:
    with serving(accepting(answer)) as server:
        done = client("--json", "--timeout", "500", f"ws://{server.address}")
    assert [name for name, count in json.loads(done.stdout)["errors"].items() if count] == [kind]
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


SMALL_BUFFERS = """
ip link set lo up
sysctl -qw net.ipv4.tcp_wmem="4096 4096 4096"
"$1" "$2" ws 9000 & server=$!
until ss -Hltn | grep -q :9000; do kill -0 $server; done
status=0
"$3" --body "$4" --quiet ws://127.0.0.1:9000 || status=$?
kill $server
exit $status
"""


def test_a_large_message_arrives_whole_where_little_can_be_sent_at_a_time(tmp_path: Path) -> None:
    """In a network of its own, whose sockets have the smallest send buffers."""
    (tmp_path / "message").write_bytes(b"\xff" + os.urandom(1_000_000))
    words = (sys.executable, SCRIPT, program("regatta-client"), tmp_path / "message")
    prefix = [needs("unshare"), "--user", "--map-root-user", "--net", "--"]
    if run(*prefix, "true").returncode != 0:
        pytest.skip("it may not have a network of its own")
    done = run(*prefix, "sh", "-ec", SMALL_BUFFERS, "sh", *map(str, words), env=environment())
    assert done.returncode == 0, done.stderr


def test_what_comes_back_before_it_was_sent_is_no_answer(tmp_path: Path) -> None:
    size = 32 << 20
    (tmp_path / "message").write_bytes(bytes(size))

    def handler(connection: socket.socket, _number: int) -> None:
        accept(connection)
        connection.recv(14)
        connection.sendall(bytes([FIN | BINARY, 127]) + size.to_bytes(8) + bytes(size))
        server.hold()

    with serving(handler) as server:
        done = client("--json", "--body", f"{tmp_path}/message", f"ws://{server.address}")
    assert json.loads(done.stdout)["errors"]["early"] == 1, done.stderr


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 404 Not Found instead"),
        (b"HTTP/1.1 101 Yes\r\nSec-WebSocket-Accept: no\r\n\r\n", "Accept is not right"),
        (b"HTTP/1.1 101 Yes\r\n\r\n", "Accept is not right"),
        (b"\x1b[31mgarbage\r\n\r\n", "\\x1b[31mgarbage instead of 101"),
        (b"HTTP/1.1 101 Yes\r\n" + b"x: y\r\n" * 20_000, "the head is too long"),
    ],
)
def test_a_refused_handshake_is_a_failure_to_connect(reply: bytes, says: str) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        read_request(connection)
        connection.sendall(reply)

    with serving(handler) as server:
        done = client("--json", f"ws://{server.address}")
    assert json.loads(done.stdout)["errors"]["connect"] == 1
    assert f"WebSocket: {says}" in done.stderr or says in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_was_on_its_way_when_the_server_left_is_sent_again() -> None:
    def leaves(message: bytes) -> bytes:
        return echo(message) + frame(CLOSE, b"\x03\xe9")

    with serving(accepting(echo, leaves)) as server:
        found = asked(f"ws://{server.address}", *CLOSED)
    assert found["connections_opened"] > found["requests"] / 3 > 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--websocket --http2", "--http2 is not for WebSocket"),
        ("--websocket --events 1", "--events is not for WebSocket"),
        ("--websocket --engine thread", "--websocket needs --engine epoll"),
        ("--websocket -n 3", "--top is not for WebSocket"),
        ("--websocket --streams 2", "--streams is for --http2"),
    ],
)
def test_options_that_do_not_fit_are_one_line(words: str, says: str) -> None:
    assert says in refusal("--dialect", "http", *words.split())


# Races.


def test_a_grpc_server_is_asked(tmp_path: Path) -> None:
    (tmp_path / "message").write_bytes(os.urandom(1000))
    call = ("--http2", "--grpc", str(tmp_path / "message"), "--path")
    with messages("grpc") as address:
        found = asked(address, *call, "/a.Echo/Turn", "-c", "2", "--streams", "5", *CLOSED)
        done = client("--dialect", "http", *call, "/a.Echo/None", address)
    assert found["connections_opened"] == 2
    assert found["bytes_received"] > 1000 * found["requests"]
    assert 'refused: "grpc-status 12: ' in done.stderr


@pytest.mark.long
@needs_two_cpus
@pytest.mark.parametrize("kind", ["ws", "grpc"])
def test_versus_finds_which_has_more_to_do(tmp_path: Path, kind: str) -> None:
    (tmp_path / "message").write_bytes(b"x" * 100)
    how = {"ws": ("--websocket", "--body"), "grpc": ("--path", "/a.Echo/Turn", "--grpc")}[kind]
    server = f"{sys.executable} {SCRIPT} {kind} {{port}}"
    words = (*how, "message", "--time", "1min", "--warmup-limit", "0", "--out", "race", "--json")
    words += ("--connections", "10")
    command = regatta("versus", f"light={server}", f"heavy={server} 20000", *words)
    done = run(*command, cwd=tmp_path, env=environment(), timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    [group] = found["groups"]
    assert (group["overall"]["front"], group["overall"]["worse"]) == ("light", ["heavy"])

"""regatta-client over TLS and HTTP/2: against nginx, and against servers of single frames that
break the rules."""

import itertools
import json
import os
import socket
import struct
import subprocess
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run, run_well
from tests.e2e.scripted_servers import Handler, serving
from tests.servers import needs, program
from tests.sockets import free_port, wait_until_accepting
from tests.waiting import wait_until

BODY = b"hello " * 700
NGINX = """
daemon off; pid {folder}/nginx.pid; worker_processes 1;{user}
error_log stderr; events {{ worker_connections 4096; }}
http {{
  log_format one "$server_protocol $connection $ssl_session_reused $status $body_bytes_sent $uri";
  access_log {folder}/access one; keepalive_requests 100; root {folder}/www; {temporary}
  ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
  ssl_protocols TLSv1.2 TLSv1.3; client_max_body_size 8m;
  server {{ listen 127.0.0.1:{h2} ssl http2; location /up {{ dav_methods PUT; }} }}
  server {{ listen 127.0.0.1:{https} ssl; }}
  server {{ listen 127.0.0.1:{h2c} http2; }}
  server {{ listen 127.0.0.1:{http}; }}
}}
"""
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
OVER = {
    "https": ("--tls",),
    "h2": ("--tls", "--http2"),
    "h2c": ("--http2",),
}
CLOSED = ("--load", "closed", "--duration", "0.3")


class Nginx:
    """Each protocol at a port of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = {name: free_port() for name in (*OVER, "http")}
        self.markers = itertools.count()

    def asked(self) -> list[list[str]]:
        """Of each request: protocol, connection, whether its session was resumed, status, bytes of
        the body, path.

        nginx logs a request only after its answer is sent, but in order: once a request of ours is
        logged, all before it are."""
        log, marker = self.folder / "access", f"/marker-{next(self.markers)}"
        with socket.create_connection(("127.0.0.1", self.ports["http"])) as connection:
            connection.sendall(f"GET {marker} HTTP/1.0\r\n\r\n".encode())
            wait_until(lambda: f" {marker}\n" in log.read_text(), f"nginx has logged {marker}")
        lines = [line.split() for line in log.read_text().splitlines()]
        return [line for line in lines if not line[5].startswith("/marker-")]

    def client(self, over: str, *options: str, trusts: bool = True, port: str = "") -> Any:
        """The client's summary of requests over this protocol, all answered."""
        done = self.run(over, *options, trusts=trusts, port=port)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def run(self, over: str, *options: str, trusts: bool = True, port: str = "") -> Any:
        trust = ("--cafile", str(self.folder / "cert.pem")) if trusts and over != "h2c" else ()
        path = () if {"--requests", "--path"} & {*options} else ("--path", "/body")
        words = (*OVER[over], *trust, *path, "--dialect", "http", "--json", *options)
        return run(program("regatta-client"), *words, f"127.0.0.1:{self.ports[port or over]}")


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    folder = tmp_path_factory.mktemp("nginx")
    certificate = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x"
    names = ("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    files = ("-keyout", folder / "key.pem", "-out", folder / "cert.pem")
    run_well(needs("openssl"), *certificate.split(), *names, *files)
    (folder / "www").mkdir()
    (folder / "www/body").write_bytes(BODY)
    (folder / "www/large").write_bytes(os.urandom(1 << 10) * 4096)
    (folder / "www/empty").touch()
    server = Nginx(folder)
    user = " user root;" if os.geteuid() == 0 else ""
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in TEMPORARY)
    configuration = folder / "nginx.conf"
    configuration.write_text(
        NGINX.format(folder=folder, user=user, temporary=temporary, **server.ports)
    )
    log = folder / "log"
    with log.open("wb") as output:
        command = [needs("nginx"), "-e", "stderr", "-c", str(configuration)]
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        for port in server.ports.values():
            wait_until_accepting(process, port, log=log.read_text)
        yield server
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(autouse=True)
def empty_log(nginx: Nginx) -> None:
    os.truncate(nginx.folder / "access", 0)


@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize(
    "load", [CLOSED, ("--load", "open", "--rate", "2000", "--duration", "0.3")]
)
def test_every_request_is_counted_by_both_sides(
    nginx: Nginx, over: str, load: tuple[str, ...]
) -> None:
    """Although nginx ends each connection after a hundred requests (HTTP/2: GOAWAY)."""
    streams = ("--streams", "10") if over != "https" else ()
    found = nginx.client(over, "-c", "4", *load, *streams)
    asked = nginx.asked()
    assert found["answered"] == found["requests"] == len(asked) > 100
    assert {line[0] for line in asked} == {"HTTP/1.1" if over == "https" else "HTTP/2.0"}
    assert {line[4] for line in asked} == {str(len(BODY))}
    assert max(Counter(line[1] for line in asked).values()) <= 100
    assert len({line[1] for line in asked}) <= found["connections_opened"]
    assert found["http2"] == (over != "https")
    assert (found["tls"] or "").startswith("TLSv1.3 ") == (over != "h2c")


def test_streams_share_a_connection(nginx: Nginx) -> None:
    burst = nginx.client("h2", "-c", "3", "--streams", "20")
    by_connection = Counter(line[1] for line in nginx.asked())
    assert sorted(by_connection.values()) == [20, 20, 20]
    assert (burst["answered"], burst["connections_opened"], burst["streams"]) == (60, 3, 20)


@pytest.mark.parametrize("resumes", [False, True])
@pytest.mark.parametrize("over", ["https", "h2"])
def test_a_handshake_for_each_request(nginx: Nginx, over: str, resumes: bool) -> None:
    resume = ("--resume",) if resumes else ()
    found = nginx.client(over, "-c", "2", *CLOSED, "--per-connection", "1", *resume)
    asked = nginx.asked()
    assert found["connections_opened"] == len({line[1] for line in asked}) == len(asked)
    resumed = sum(line[2] == "r" for line in asked)
    assert found["resumed"] == resumed == (len(asked) - 2 if resumes else 0)


@pytest.mark.parametrize("over", OVER)
def test_what_an_answer_must_be_is_checked(nginx: Nginx, over: str, tmp_path: Path) -> None:
    expected = tmp_path / "expected"
    for crc, kind in ((zlib.crc32(BODY), None), (zlib.crc32(BODY) ^ 1, "changed")):
        expected.write_text(f"200 {len(BODY)} {len(BODY)} {crc:08x}\n")
        found = json.loads(nginx.run(over, "--expect", str(expected)).stdout)
        assert [name for name, count in found["errors"].items() if count] == [kind] * bool(kind)


@pytest.mark.parametrize("over", OVER)
def test_bodies_of_every_size_and_none(nginx: Nginx, over: str, tmp_path: Path) -> None:
    requests = tmp_path / "requests"
    lines = ["3 GET /large", "2 GET /empty", "2 HEAD /body", "1:404 GET /none", "4 GET /body"]
    requests.write_text("".join(f"{line} HTTP/1.1\\r\\n\\r\\n\n" for line in lines))
    found = nginx.client(over, "-c", "3", *CLOSED, "--requests", str(requests))
    sent = {line[5]: line[4] for line in nginx.asked() if line[3] == "200"}
    assert sent["/large"] == str(1 << 22)
    assert found["bytes_received"] > sum(int(line[4]) for line in nginx.asked())
    assert found["answered"] == len(nginx.asked())


def test_an_upload_is_whole(nginx: Nginx, tmp_path: Path) -> None:
    requests, body = tmp_path / "requests", "abcdefgh" * 125_000
    requests.write_text(f"1 PUT /up/file HTTP/1.1\\r\\n\\r\\n{body}\n")
    (nginx.folder / "www/up").mkdir(exist_ok=True)
    nginx.client("h2", "--requests", str(requests))
    assert (nginx.folder / "www/up/file").read_text() == body


@pytest.mark.parametrize(
    ("over", "options", "port", "says"),
    [
        ("https", ("--host", "example.org"), "", "certificate: hostname mismatch"),
        ("h2", (), "https", "ALPN: the server does not speak HTTP/2"),
        ("https", (), "http", "TLS: the server's answer is not TLS"),
        ("h2c", (), "http", "HTTP/2: the server answers in HTTP/1.1"),
        ("h2", ("--path", "/none"), "", 'refused: "HTTP/2 404"'),
    ],
)
def test_what_goes_wrong_is_one_line(
    nginx: Nginx, over: str, options: tuple[str, ...], port: str, says: str
) -> None:
    done = nginx.run(over, *options, port=port)
    assert done.returncode == 1
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_whom_nobody_vouches_for_is_refused_unless_all_pass(nginx: Nginx) -> None:
    done = nginx.run("https", trusts=False)
    assert "certificate: self-signed certificate; name who signed it with --cafile" in done.stderr
    nginx.client("https", "--insecure", trusts=False)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--insecure --path /", "--insecure is for --tls"),
        ("--streams 2 --path /", "--streams is for --http2"),
        ("--tls --engine thread --path /", "--tls needs --engine epoll"),
        ("--http2", "--http2 needs --path or --requests"),
        ("--http2 --path / --idle 3", "--idle and --slow are for HTTP/1.1 without TLS"),
        ("--http2 --path / --streams 2 --load closed --per-connection 1", "needs --streams 1"),
        ("--http2 --grpc /dev/null", "--grpc needs --http2 and --path"),
        ("--tls --path / --cafile /dev/null", "has no certificate in PEM form"),
        ("--path / https://127.0.0.1/x", "give the path as --path /x"),
    ],
)
def test_options_that_do_not_fit_are_one_line(words: str, says: str) -> None:
    done = run(program("regatta-client"), "--dialect", "http", *words.split())
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


# Servers of single frames (RFC 9113): each writes what it says to the first request.

DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, CONTINUATION = 0, 1, 3, 4, 7, 9
END_STREAM, END_HEADERS = 1, 4
OK = b"\x88"
"""`:status: 200`, of HPACK's static table."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return (
        struct.pack(">I", len(payload))[1:]
        + bytes([kind, flags])
        + struct.pack(">I", stream)
        + payload
    )


def literal(name: str, value: str) -> bytes:
    """A field without indexing, both shorter than 127 bytes."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def answering(
    reply: Callable[[int], bytes], settings: bytes = b"", bodies: list[bytes] | None = None
) -> Handler:
    """Sends what `reply` gives for each stream; `bodies` gets what came with them."""

    def handler(connection: Any, _number: int) -> None:
        with connection.makefile("rb") as sent:
            connection.sendall(frame(SETTINGS, 0, 0, settings))
            sent.read(24)
            while head := sent.read(9):
                payload = sent.read(int.from_bytes(head[:3]))
                if bodies is not None and head[3] == DATA:
                    bodies.append(payload)
                if head[3] == HEADERS:
                    connection.sendall(reply(int.from_bytes(head[5:])))

    return handler


def head(stream: int, fields: bytes = OK, flags: int = END_HEADERS) -> bytes:
    return frame(HEADERS, flags, stream, fields)


def whole(stream: int) -> bytes:
    return head(stream) + frame(DATA, END_STREAM, stream, b"x")


def bomb(stream: int) -> bytes:
    """One field of 4 KiB in the dynamic table, then that field twenty thousand times."""
    value = b"v" * 4000
    field = b"\x40\x01n\x7f" + bytes([0x80 | (4000 - 127) & 0x7F, (4000 - 127) >> 7]) + value
    return head(stream, OK + field + b"\xbe" * 12_000)


def flood(stream: int) -> bytes:
    more = frame(CONTINUATION, 0, stream, b"")
    return head(stream, OK, flags=0) + more * 20_000


def over_http2(address: str, *options: str) -> Any:
    words = ("--dialect", "http", "--http2", "--json", "--timeout", "500")
    path = () if "--requests" in options else ("--path", "/a.B/c")
    return run(program("regatta-client"), *words, *path, *options, address)


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (lambda _: frame(RST_STREAM, 0, 1, struct.pack(">I", 2)), "closed", "INTERNAL_ERROR"),
        (lambda _: b"", "timeout", "no complete reply in time"),
        (head, "timeout", "no complete reply in time"),
        (lambda _: b"garbage " * 20, "malformed", "HTTP/2: "),
        (lambda n: frame(DATA, END_STREAM, n, b"x"), "malformed", "HTTP/2: "),
        (
            lambda n: head(n, OK + literal("content-length", "2")) + frame(DATA, 1, n, b"x"),
            "closed",
            "PROTOCOL_ERROR",
        ),
        (bomb, "malformed", "the head is too long"),
        (flood, "malformed", "HTTP/2: "),
        (lambda n: whole(n)[:-1] + b"", "timeout", "no complete reply in time"),
        (lambda n: frame(DATA, 0, n + 2, b"x"), "malformed", "HTTP/2: "),
    ],
    ids=[
        "reset",
        "silent",
        "headless",
        "garbage",
        "no-head",
        "length",
        "bomb",
        "flood",
        "part",
        "stranger",
    ],
)
def test_a_server_that_breaks_the_rules_is_one_failure_and_one_line(
    reply: Callable[[int], bytes], kind: str, says: str
) -> None:
    with serving(answering(reply)) as server:
        done = over_http2(server.address)
    assert [name for name, count in json.loads(done.stdout)["errors"].items() if count] == [kind]
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_goaway_loses_no_request() -> None:
    """What the server has not looked at is asked again on a new connection."""
    streams: list[int] = []

    def reply(stream: int) -> bytes:
        streams.append(stream)
        ending = frame(GOAWAY, 0, 0, struct.pack(">II", stream, 0))
        return whole(stream) + (ending if stream == 5 else b"") if stream <= 5 else b""

    with serving(answering(reply)) as server:
        done = over_http2(server.address, "--streams", "5")
        found = json.loads(done.stdout)
    assert (done.returncode, found["answered"], found["resent"]) == (0, 5, 2)
    assert found["connections_opened"] == server.accepted == 2
    assert streams.count(1) == 2


def test_an_upload_that_the_server_never_takes_ends_with_its_timeout(tmp_path: Path) -> None:
    """A window of 0, which is never enlarged."""
    requests = tmp_path / "requests"
    requests.write_text("1 POST / HTTP/1.1\\r\\n\\r\\n" + "x" * 100_000 + "\n")
    with serving(answering(lambda _: b"", struct.pack(">HI", 4, 0))) as server:
        done = over_http2(server.address, "--requests", str(requests))
    assert "timeout: no complete reply in time" in done.stderr


def test_chunks_are_not_for_http2(tmp_path: Path) -> None:
    requests = tmp_path / "requests"
    head = "POST / HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
    requests.write_text(f"1 {head}1\\r\\nx\\r\\n0\\r\\n\\r\\n\n")
    done = over_http2("127.0.0.1:1", "--requests", str(requests))
    assert "HTTP/2 has no Transfer-Encoding" in done.stderr


def test_a_slow_stream_does_not_hold_up_the_others() -> None:
    with serving(answering(lambda n: whole(n) if n > 1 else b"")) as server:
        load = ("--load", "closed", "--duration", "0.3", "--streams", "3")
        found = json.loads(over_http2(server.address, *load).stdout)
    assert found["errors"]["timeout"] == 1
    assert found["answered"] > 10
    assert found["connections_opened"] == 1


def test_a_request_does_not_wait_until_another_is_acknowledged() -> None:
    """The server answers in pairs, so that it has no reply to acknowledge the first one with, and
    waits some 40 ms with doing so."""
    load = ("--load", "open", "--rate", "200", "--duration", "0.4", "--streams", "4")

    def median_ms() -> float:
        with serving(answering(lambda n: whole(n - 2) + whole(n) if n % 4 == 3 else b"")) as server:
            return json.loads(over_http2(server.address, *load).stdout)["latency_ns"]["p50"] / 1e6

    assert min(median_ms() for _ in range(3)) < 30


# gRPC: its status is in the trailers.

TRAILERS = END_HEADERS | END_STREAM


def status(number: str, message: str = "") -> bytes:
    said = literal("grpc-status", number)
    return said + (literal("grpc-message", message) if message else b"")


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (lambda n: head(n) + frame(DATA, 0, n, b"\0" * 5) + head(n, status("0"), TRAILERS), ""),
        (lambda n: head(n) + head(n, status("5", "no such"), TRAILERS), "grpc-status 5: no such"),
        (lambda n: head(n, OK + status("12"), TRAILERS), "grpc-status 12"),
        (whole, "no grpc-status"),
        (lambda n: head(n, b"\x8d", TRAILERS), "HTTP/2 404"),
    ],
    ids=["answered", "not-found", "trailers-only", "no-status", "not-grpc"],
)
def test_grpc_status_is_the_status(
    tmp_path: Path, reply: Callable[[int], bytes], problem: str
) -> None:
    message = tmp_path / "message"
    message.write_bytes(bytes(range(256)))
    bodies: list[bytes] = []
    with serving(answering(reply, bodies=bodies)) as server:
        done = over_http2(server.address, "--grpc", str(message))
    assert b"".join(bodies) == b"\0" + struct.pack(">I", 256) + message.read_bytes()
    assert (done.returncode == 0) == (not problem)
    assert problem in done.stderr

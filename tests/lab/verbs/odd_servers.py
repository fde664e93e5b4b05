"""Small servers, each with something that servers of new users do: PORT HOW [FOLDER]."""

import itertools
import os
import signal
import socket
import ssl
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

EARLY = 3
"""So many first requests get no good answer: a time could be over before the first one comes."""
SLOW_S = 0.08
LATE_S = 1.5
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, SETTINGS, END_STREAM, END_HEADERS, STATUS_200 = 1, 4, 1, 4, b"\x88"
"""Of HTTP/2 (RFC 9113)."""


def whole(body: bytes = b"hello", status: bytes = b"200 OK", more: bytes = b"") -> bytes:
    return b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, more, len(body), body)


REPLIES = {
    "two-lengths": whole(more=b"Content-Length: 5\r\n"),
    "long-line": whole(more=b"Content-Security-Policy: " + b"a" * 20_000 + b"\r\n"),
    "hints": b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\n" + whole(),
    "empty": b"HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n",
    "created": whole(status=b"201 Created"),
    "redirect": whole(b"", b"302 Found", b"Location: /login\r\n"),
    "locked": whole(status=b"401 Unauthorized"),
    "broken": whole(status=b"500 Internal Server Error"),
    "unready": whole(status=b"503 Service Unavailable"),
    "lost": whole(status=b"404 No"),
    "garbage": b"220 mail.example ESMTP\r\n",
    "short": b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhello",
    "closes": whole(more=b"Connection: close\r\n"),
    "longer": whole(b"hello, hello", more=b"Content-Type: text/plain\r\n"),
}
CLOSES = {"garbage", "short", "closes", "pong-closes"}
asked = itertools.count()


def reply(how: str, head: list[bytes]) -> bytes:
    if how in {"early", "early-closed"} and next(asked) < EARLY:
        return REPLIES["unready"] if how == "early" else b""
    if how == "host":
        (host,) = (line.split(b":")[1].strip() for line in head if line.startswith(b"Host:"))
        return whole() if host == b"localhost" else whole(status=b"400 Bad Request")
    if how == "slow":
        time.sleep(SLOW_S)
    if how == "logs":
        print("GET / 200 hello world" * 9)  # into a file: written when 8 KiB are full
    if how == "broken":
        print("KeyError: 'price'", file=sys.stderr, flush=True)
    if how == "varies":
        return whole(b"answer %d" % next(asked))
    if b" /gone " in head[0]:
        return REPLIES["lost"]
    return REPLIES.get(how, whole())


def pong(how: str) -> bytes:
    """Of a server of another protocol, which answers each line."""
    return b"+PONG\r\n" * (2 if how == "pong-twice" else 1)


def handle(connection: socket.socket, how: str) -> None:
    if how == "greets":
        connection.sendall(b"220 ready\r\n")
    head: list[bytes] = []
    with connection, connection.makefile("rb") as lines:
        for line in lines:
            head.append(line)
            if how == "greets":
                connection.sendall(b"250 OK\r\n")
            elif how.startswith("pong"):
                connection.sendall(pong(how))
                head = []
            elif line == b"\r\n":
                if not (answer := reply(how, head)):
                    return
                connection.sendall(answer)
                head = []
            if how in CLOSES and not head:
                return


def framed(connection: socket.socket) -> None:
    """HTTP/2 alone: whoever begins otherwise is left. Answers each stream with `hello`."""
    with connection, connection.makefile("rb") as sent:
        if sent.read(len(PREFACE)) != PREFACE:
            return
        connection.sendall(frame(SETTINGS, 0, 0))
        while head := sent.read(9):
            sent.read(int.from_bytes(head[:3]))
            stream = int.from_bytes(head[5:])
            if head[3] == HEADERS:
                answer = frame(HEADERS, END_HEADERS, stream, STATUS_200)
                connection.sendall(answer + frame(0, END_STREAM, stream, b"hello"))


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload


def secured(connection: socket.socket, folder: Path, how: str) -> None:
    """As Go: whoever speaks plainly is told so."""
    first = connection.recv(1, socket.MSG_PEEK)
    if first != b"\x16":
        if how == "tls-told":
            connection.sendall(whole(b"plain HTTP to an HTTPS server", b"400 Bad Request"))
        connection.close()
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    with context.wrap_socket(connection, server_side=True) as inside:
        handle(inside, how)


def serve(listener: socket.socket, how: str, folder: Path) -> NoReturn:
    at_once = threading.Semaphore({"one": 1, "short-queue": 1, "four": 4}.get(how, 1000))
    while True:
        at_once.acquire()
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def handled(connection: socket.socket = connection) -> None:
            try:
                if how.startswith("tls"):
                    secured(connection, folder, how)
                elif how == "h2c":
                    framed(connection)
                else:
                    handle(connection, how)
            except OSError:
                pass
            finally:
                at_once.release()

        threading.Thread(target=handled, daemon=True).start()


def main(port: int, how: str, folder: str = ".") -> None:
    if how == "late":
        time.sleep(LATE_S)
    if how == "dies":
        print("cannot open config.toml", file=sys.stderr)
        sys.exit(1)
    if how == "daemon" and os.fork():
        sys.exit()
    six = how == "six"
    backlog = 5 if how == "short-queue" else 512
    family = socket.AF_INET6 if six else socket.AF_INET
    at = ("::1" if six else "127.0.0.1", port)
    listener = socket.create_server(at, family=family, backlog=backlog)
    if how == "one-sided":
        # A master and two workers, as nginx: one accepts, the other has nothing to do.
        workers = [os.fork() or work(listener, is_idle) for is_idle in (False, True)]
        os.waitpid(workers[0], 0)
    serve(listener, how, Path(folder))


def work(listener: socket.socket, is_idle: bool) -> NoReturn:
    while is_idle:
        signal.pause()
    serve(listener, "well", Path())


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])

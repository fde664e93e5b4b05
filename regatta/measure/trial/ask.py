"""Asks a server for its answers, with the bytes that the client sends. Standard library only.

usage: ask.py <ORDER >ANSWERS, both pickled: what `ask` takes and returns
       ask.py REQUEST --fd FD: waits for a server's first answer. Writes `ready`, reads HOST:PORT,
       asks until it gets the first byte, and writes `answered` with CLOCK_MONOTONIC in ns
"""

import http.client
import pickle
import socket
import ssl
import sys
import time
from collections.abc import Sequence

ANSWER_TIMEOUT_S = 10.0
ENOUGH_S, LONGEST_S = 2.0, 30.0
PIECE = 1 << 16
PAUSE_S, PATIENCE_S = 0.001, 20.0
"""A server that refuses is asked again after this pause, for that long."""
LINE_LIMIT = 4096
CONTINUE, SWITCHING, OK = 100, 101, 200

Reply = tuple[int, bytes, str, bool]
"""Status, body, type, and whether the server closes the connection after it."""


def address_of(target: str) -> tuple[str, int]:
    host, _, port = target.rpartition(":")
    return host.strip("[]"), int(port)


class Peer:
    """A connection, made again when the server closes it."""

    def __init__(self, target: str, tls: bool) -> None:
        self.address = address_of(target)
        self.tls = tls
        self.socket: socket.socket | None = None

    def ask(self, asked: str, request: bytes) -> Reply:
        """`asked`: the request in words, which begin with its method. A connection may close while
        it rests, even unannounced."""
        is_fresh = self.socket is None
        if self.socket is None:
            self.socket = socket.create_connection(self.address, ANSWER_TIMEOUT_S)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.tls:
                self.socket = over_tls(self.socket)
        try:
            self.socket.sendall(request)
            answer = read_answer(self.socket, asked.partition(" ")[0])
        except ConnectionError:
            self.close()
            if is_fresh:
                raise
            return self.ask(asked, request)
        if answer[3]:
            self.close()
        return answer

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
        self.socket = None


def over_tls(connection: socket.socket) -> socket.socket:
    """Any certificate passes: it is the server's own, and nothing is secret."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context.wrap_socket(connection, server_hostname="localhost")


def read_answer(sock: socket.socket, method: str) -> Reply:
    """TimeoutError if it takes too long as a whole, a piece at a time."""
    deadline_s = time.monotonic() + ANSWER_TIMEOUT_S
    response = http.client.HTTPResponse(sock, method=method)
    response.begin()
    while CONTINUE <= response.status < OK and response.status != SWITCHING:  # not the answer yet
        ahead, response = response, http.client.HTTPResponse(sock, method=method)
        response.fp.close()
        response.fp = ahead.fp
        response.begin()
    closes, pieces = response.will_close, []
    while piece := response.read1(PIECE):
        pieces.append(piece)
        if time.monotonic() > deadline_s:
            raise TimeoutError
    if response.length:  # it promised more
        raise http.client.IncompleteRead(b"", response.length)
    response.close()
    kind = response.getheader("Content-Type", "").partition(";")[0].strip().lower()
    return response.status, b"".join(pieces), kind, closes


def ask(
    target: str, requests: Sequence[tuple[str, bytes]], times: int, tls: bool
) -> list[list[Reply]] | str:
    """Each request in words and bytes, all in turn, that often over two connections; if that takes
    long, less often. Returns the answers to each, or what is wrong."""
    found: list[list[Reply]] = [[] for _ in requests]
    start_s, asked, peer = time.monotonic(), "", Peer(target, tls)
    try:
        for number in range(times):
            if number == times // 2:
                peer.close()
            for answers, (asked, request) in zip(found, requests, strict=True):
                answers.append(peer.ask(asked, request))
                if time.monotonic() - start_s > LONGEST_S:
                    return f"its {len(requests):,} requests take too long"
            if time.monotonic() - start_s > ENOUGH_S:
                break
    except TimeoutError:
        return f"it does not answer {asked} within {ANSWER_TIMEOUT_S:g} s"
    except http.client.HTTPException as error:
        words = " ".join(str(error).split())
        said = f"{type(error).__name__}: {words}" if words else type(error).__name__
        return f"its answer to {asked} is not HTTP/1.1 ({said})"
    except OSError as error:
        return f"it does not answer {asked}: {error.strerror or error}"
    finally:
        peer.close()
    return found


def first_answer_ns(target: str, request: bytes) -> int:
    """When it came; OSError if it does not come in time."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with socket.create_connection(address_of(target), PATIENCE_S) as server:
                server.sendall(request)
                if server.recv(1):
                    return time.monotonic_ns()
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(PAUSE_S)


def time_first_answer(request: str, fd: int) -> None:
    with socket.socket(fileno=fd) as lab:
        lab.sendall(b"ready\n")
        target = lab.recv(LINE_LIMIT).decode().strip()
        lab.sendall(f"answered {first_answer_ns(target, request.encode())}\n".encode())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        time_first_answer(sys.argv[1], int(sys.argv[3]))
    else:
        pickle.dump(ask(*pickle.load(sys.stdin.buffer)), sys.stdout.buffer)

"""Asks a server for its answers, with the bytes that the client sends. Standard library only.

usage: ask.py <ORDER >ANSWERS, both pickled: what `ask` takes and returns
"""

import http.client
import pickle
import socket
import sys
import time
from collections.abc import Sequence

ANSWER_TIMEOUT_S = 10.0
ENOUGH_S, LONGEST_S = 2.0, 30.0
PIECE = 1 << 16
CONTINUE, SWITCHING, OK = 100, 101, 200

Told = tuple[int, bytes, str, bool]
"""Status, body, type, and whether the server closes the connection after it."""


class Peer:
    """A connection, made again when the server closes it."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self.address = host.strip("[]"), int(port)
        self.socket: socket.socket | None = None

    def ask(self, asked: str, request: bytes) -> Told:
        """`asked`: the request in words, which begin with its method. A connection may close while
        it rests, even unannounced."""
        is_fresh = self.socket is None
        if self.socket is None:
            self.socket = socket.create_connection(self.address, ANSWER_TIMEOUT_S)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.socket.sendall(request)
            told = read_answer(self.socket, asked.partition(" ")[0])
        except ConnectionError:
            self.close()
            if is_fresh:
                raise
            return self.ask(asked, request)
        if told[3]:
            self.close()
        return told

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
        self.socket = None


def read_answer(sock: socket.socket, method: str) -> Told:
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


def ask(target: str, requests: Sequence[tuple[str, bytes]], times: int) -> list[list[Told]] | str:
    """Each request in words and bytes, all in turn, that often over two connections; if that takes
    long, less often. Returns the answers to each, or what is wrong."""
    found: list[list[Told]] = [[] for _ in requests]
    start_s, asked, peer = time.monotonic(), "", Peer(target)
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


if __name__ == "__main__":
    pickle.dump(ask(*pickle.load(sys.stdin.buffer)), sys.stdout.buffer)

"""Waits for a server's first answer, from within the client's network. Standard library only.

usage: first_answer.py REQUEST --fd FD

Writes `ready`, reads HOST:PORT, connects until it gets the first byte of an answer, and writes
`answered` with CLOCK_MONOTONIC in ns. A server that refuses is asked again after a millisecond.
"""

import socket
import sys
import time

PAUSE_S = 0.001
PATIENCE_S = 20.0
LINE_LIMIT = 4096


def first_answer_ns(target: str, request: bytes) -> int:
    """OSError if there is none in time."""
    host, _, port = target.rpartition(":")
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with socket.create_connection((host.strip("[]"), int(port)), PATIENCE_S) as server:
                server.sendall(request)
                if server.recv(1):
                    return time.monotonic_ns()
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(PAUSE_S)


def main(request: str, _option: str, fd: str) -> None:
    with socket.socket(fileno=int(fd)) as lab:
        lab.sendall(b"ready\n")
        target = lab.recv(LINE_LIMIT).decode().strip()
        lab.sendall(f"answered {first_answer_ns(target, request.encode())}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Asks a server once, in the network of whoever starts this: `ask.py HOST PORT`.

The request comes on stdin, the reply goes to stdout, all of it. Exit status 3: nobody listens.
A program of its own, because only a process can enter a network namespace.
"""

import socket
import sys

TIMEOUT_S = 10
NOBODY_LISTENS = 3


def ask(host: str, port: int, request: bytes) -> bytes:
    reply = bytearray()
    with socket.create_connection((host, port), TIMEOUT_S) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(65536):
            reply += piece
    return bytes(reply)


if __name__ == "__main__":
    try:
        answer = ask(sys.argv[1], int(sys.argv[2]), sys.stdin.buffer.read())
    except ConnectionRefusedError:
        sys.exit(NOBODY_LISTENS)
    sys.stdout.buffer.write(answer)

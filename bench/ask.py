"""Asks a server once, in the network of whoever starts this: `ask.py HOST PORT`.

The request comes on stdin, the reply goes to stdout, all of it. A program of its own, because only
a process can enter a network namespace.
"""

import socket
import sys

TIMEOUT_S = 10

if __name__ == "__main__":
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), TIMEOUT_S) as connection:
        connection.sendall(sys.stdin.buffer.read())
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(65536):
            sys.stdout.buffer.write(piece)

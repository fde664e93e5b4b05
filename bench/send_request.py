"""Sends stdin to a server and prints the whole reply: `send_request.py HOST PORT`.

A separate program, because only a process can enter the client's network namespace.
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

"""Servers that need something: `server PORT DB` asks at each request what `db PORT` works out.

The first answers only if its folder has a file `filled`, as its set-up makes it, and $MOOD is good.
"""

import os
import socket
import sys
import threading
import time
from pathlib import Path

SPIN_S = 0.0003
"""CPU time of the second for each request."""


def ask(database: socket.socket, lock: threading.Lock) -> bytes:
    with lock:
        database.sendall(b"?")
        word = database.recv(64)
    well = os.environ.get("MOOD") == "good" and Path("filled").exists()
    status = "200 OK" if well else "500 Oh no"
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(word)}\r\n\r\n".encode() + word


def work(_: bytes) -> bytes:
    end_s = time.thread_time() + SPIN_S
    while time.thread_time() < end_s:
        pass
    return b"done"


def main() -> None:
    what, port, *others = sys.argv[1:]
    answer, lock = work, threading.Lock()
    if what == "server":
        database = socket.create_connection(("127.0.0.1", int(others[0])))
        answer = lambda _: ask(database, lock)  # noqa: E731

    def serve(connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(4096):
                connection.sendall(answer(data))

    with socket.create_server(("127.0.0.1", int(port)), backlog=64) as listener:
        print(f"{what} is ready", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()

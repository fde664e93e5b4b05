"""A server whose requests wait in a known way: waits.py PORT HOW, one of HOWS."""

import select
import socket
import sys
import threading
import time

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
ACCEPT_S, LOCK_S, LOCK_EACH_S = 0.003, 0.005, 0.1
HOWS = ("nothing", "accept", "lock")
lock = threading.Lock()


def hold() -> None:
    while True:
        time.sleep(LOCK_EACH_S)
        with lock:
            time.sleep(LOCK_S)


def serve(connection: socket.socket) -> None:
    with connection:
        while connection.recv(4096):
            with lock:
                connection.sendall(REPLY)


def main() -> None:
    port, how = sys.argv[1:]
    if how == "lock":
        threading.Thread(target=hold, daemon=True).start()
    with socket.create_server(("127.0.0.1", int(port)), backlog=1024) as listener:
        print("ready", flush=True)
        while True:
            if how == "accept":
                select.select([listener], [], [])
                time.sleep(ACCEPT_S)
            connection, _ = listener.accept()
            if how == "accept":
                serve(connection)
            else:
                threading.Thread(target=serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()

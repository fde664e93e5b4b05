"""Listening sockets that a server is given by whoever starts it."""

import sys

GIVE = """
import fcntl, os, socket, sys
host, count, send_buffer, listens, *words = sys.argv[1:]
is_open = listens == "True"
given = [socket.create_server((host, 0)) if is_open else socket.socket() for _ in range(int(count))]
for one in given:
    if send_buffer != "None":
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, int(send_buffer))
for i, fd in enumerate([fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 40) for one in given]):
    os.dup2(fd, 3 + i)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=count, LISTEN_FDNAMES="x")
os.execv(words[0], words)
"""


def giving(
    host: str = "127.0.0.1",
    count: int = 1,
    send_buffer: int | None = None,
    *,
    listens: bool = True,
) -> list[str]:
    """A command that opens so many sockets and becomes the words after it with them, as systemd
    would: from descriptor 3 on, and told so.

    send_buffer: of each connection accepted from it, which else grows with what waits there."""
    return [sys.executable, "-c", GIVE, host, str(count), str(send_buffer), str(listens)]

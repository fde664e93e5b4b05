"""Socket activation: listening sockets inherited from the parent, as systemd passes them."""

import sys

ACTIVATE = """
import fcntl, os, socket, sys
host, count, send_buffer, listens, *words = sys.argv[1:]
make = (lambda: socket.create_server((host, 0))) if listens == "True" else socket.socket
sockets = [make() for _ in range(int(count))]
for listener in sockets:
    if send_buffer != "None":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, int(send_buffer))
for i, fd in enumerate([fcntl.fcntl(listener, fcntl.F_DUPFD_CLOEXEC, 40) for listener in sockets]):
    os.dup2(fd, 3 + i)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=count, LISTEN_FDNAMES="x")
os.execv(words[0], words)
"""


def socket_activation(
    host: str = "127.0.0.1",
    count: int = 1,
    send_buffer: int | None = None,
    *,
    listens: bool = True,
) -> list[str]:
    """A command prefix that opens `count` sockets and executes the rest of the command with them,
    from descriptor 3 on, with LISTEN_FDS set as by systemd.

    send_buffer: SO_SNDBUF of accepted connections; by default the kernel enlarges it on demand."""
    return [sys.executable, "-c", ACTIVATE, host, str(count), str(send_buffer), str(listens)]

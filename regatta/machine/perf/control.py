"""The control pipes that enable and disable the counters of a running perf."""

import os
import select
import time
from pathlib import Path

from regatta.errors import TrialError

ACK_TIMEOUT_S = 10


class Control:
    """The two named pipes to one perf. Unlike descriptors, the workload does not inherit them."""

    def __init__(self, folder: Path, side: str) -> None:
        control, ack = folder / f"{side}.control", folder / f"{side}.ack"
        for path in (control, ack):
            path.unlink(missing_ok=True)  # left by the client of the previous slice
            os.mkfifo(path, 0o600)
        # O_RDWR, so that opening does not block until perf opens the other end.
        self.control_fd = os.open(control, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self.ack_fd = os.open(ack, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def send(self, command: str) -> None:
        os.write(self.control_fd, command.encode() + b"\n")

    def wait(self) -> None:
        """Waits until perf confirms the last command with `ack`."""
        deadline = time.monotonic() + ACK_TIMEOUT_S
        received = b""
        poll = select.poll()
        poll.register(self.ack_fd, select.POLLIN)
        while not received.endswith(b"ack\n"):
            left_ms = (deadline - time.monotonic()) * 1000
            if left_ms <= 0 or not poll.poll(left_ms):
                raise TrialError(f"perf did not answer within {ACK_TIMEOUT_S} s")
            piece = os.read(self.ack_fd, 64)
            if not piece:
                raise TrialError("perf exited before the end of the trial")
            # perf ends its answer with a NUL byte.
            received += piece.replace(b"\0", b"")

    def close(self) -> None:
        os.close(self.control_fd)
        os.close(self.ack_fd)

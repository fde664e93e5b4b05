"""Wait for a condition, and no longer than needed."""

import time
from collections.abc import Callable

PATIENCE_S = 60.0
"""How long a test waits for something immediate before it fails."""


def wait_until(
    is_so: Callable[[], object], what: str | Callable[[], str], patience_s: float = PATIENCE_S
) -> None:
    """`what`: the failure message."""
    deadline = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < deadline, what if isinstance(what, str) else what()
        time.sleep(0.002)

"""Submits tasks to the workers of a Dask cluster and waits for their results.

No task is retried or moved: a trial that is cut off has failed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from distributed import Client, Future, wait

CLOSE_S = 5


class Engine:
    """Close it after the hosts."""

    client: Client

    def submit(
        self, worker: str, function: Callable[..., Any], *args: Any, actor: bool, **named: Any
    ) -> Any:
        """Submits a task to this worker only, without retries."""
        return self.client.submit(
            function,
            *args,
            workers=[worker],
            allow_other_workers=False,
            retries=0,
            pure=False,
            actor=actor,
            **named,
        )

    def is_done(self, future: Any, within_s: float) -> bool:
        """Whether the future has a result or an error within this time.

        Does not call `result` with a timeout: Dask gathers all futures' results together, and a
        timeout during a gather loses the results of the others.
        """
        with suppress(TimeoutError):
            if isinstance(future, Future):
                with self.client.as_current():
                    wait([future], timeout=within_s)
            else:
                future.result(timeout=within_s)  # an actor's future gathers nothing
        return bool(future.done())

    def close(self) -> None:
        """Ignores Dask's errors while it shuts down, as the race has all its results by now.

        A cancelled task inside Dask may even appear as an UnboundLocalError from its `sync`.
        """
        with suppress(Exception):
            self.client.close(timeout=CLOSE_S)

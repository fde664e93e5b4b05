"""Computing on all CPUs: while a calibration judges, nothing is being measured."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from typing import TypeVar

Asked = TypeVar("Asked")
Found = TypeVar("Found")


def on_all_cpus(work: Callable[[Asked], Found], asked: Sequence[Asked]) -> list[Found]:
    """The answers in the order of the questions. Workers inherit what is in memory now."""
    workers = min(len(os.sched_getaffinity(0)), len(asked))
    if workers < 2:
        return [work(one) for one in asked]
    # Ctrl-C is for the parent: leaving the pool ends the workers.
    with get_context("fork").Pool(workers, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        return list(pool.imap(work, asked, chunksize=1))

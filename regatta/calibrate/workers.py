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
    """The answers in the order of the questions. What is in memory now is inherited by all."""
    workers = min(len(os.sched_getaffinity(0)), len(asked))
    if workers < 2:
        return [work(one) for one in asked]
    # Ctrl-C is the parent's to hear: leaving the pool ends the others.
    with get_context("fork").Pool(workers, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        return list(pool.imap(work, asked, chunksize=1))

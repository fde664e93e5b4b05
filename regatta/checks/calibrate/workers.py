"""Computes on all CPUs, while no trial is running."""

import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from typing import TypeVar

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


def on_all_cpus(work: Callable[[Task], Outcome], tasks: Sequence[Task]) -> list[Outcome]:
    """The outcomes in the order of the tasks. Workers inherit the memory of this process."""
    workers = min(len(os.sched_getaffinity(0)), len(tasks))
    if workers < 2:
        return [work(one) for one in tasks]
    # Only the parent handles Ctrl-C; leaving the pool ends the workers.
    with get_context("fork").Pool(workers, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        return list(pool.imap(work, tasks, chunksize=1))

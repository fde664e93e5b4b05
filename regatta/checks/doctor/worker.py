"""A program that does one small task on the CPU that it is pinned to and reports how long it took.

It runs as `python worker.py TASK NUMBER…` and imports nothing else of the lab. The answer is a line
of JSON.

    watch SECONDS               reads the clock continuously: time lost where it jumps, in ns
    work RESTS MS SECONDS N     after each rest N pieces of arithmetic: CPU time of each in ns
    beside PID PAIRS SECONDS    equal pieces of arithmetic, while that process is stopped and while
                                it runs: CPU time of both of each pair in ns
    nap ROUNDS N US             sleeps N times for US microseconds: by how many ns each was too long
    busy                        computes until it is killed
"""

import ctypes
import gc
import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable

# A timer interrupt takes a few µs on any CPU; shorter jumps are no disturbance.
JUMP_NS = 10_000
PIECES = 10
PR_SET_TIMERSLACK = 29
ENOUGH_NS = 5_000_000


def compute(count: int) -> None:
    value = 1
    for _ in range(count):
        value = (value * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF


def cpu_ns(count: int) -> int:
    began_ns = time.thread_time_ns()
    compute(count)
    return time.thread_time_ns() - began_ns


def size(seconds: float) -> int:
    """The number of repetitions that takes about `seconds` here."""
    count = 200
    while (took_ns := cpu_ns(count)) <= ENOUGH_NS:
        count *= 4
    return max(1, round(count * seconds * 1e9 / took_ns))


def switches() -> int:
    """How often another program preempted this one."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def watch(seconds: float) -> list[dict[str, int]]:
    """The length of each piece, and the time lost to other programs and to unseen causes."""
    return [watch_piece(int(seconds * 1e9 / PIECES)) for _ in range(PIECES)]


def watch_piece(length_ns: int) -> dict[str, int]:
    now = time.monotonic_ns
    lost = dict.fromkeys(("others_ns", "others_longest_ns", "unseen_ns", "unseen_longest_ns"), 0)
    known = switches()
    first = last = now()
    end = first + length_ns
    while last < end:
        moment = now()
        jump = moment - last
        last = moment
        if jump > JUMP_NS:
            # Without a context switch, an interrupt or the host took the time.
            count = switches()
            taker = "others" if count > known else "unseen"
            lost[f"{taker}_ns"] += jump
            lost[f"{taker}_longest_ns"] = max(lost[f"{taker}_longest_ns"], jump)
            known, last = count, now()
    return {"wall_ns": last - first, **lost}


def work(rests: int, ms: int, seconds: float, pieces: int) -> list[list[int]]:
    count, found = size(seconds), []
    for _ in range(rests):
        time.sleep(ms / 1000)
        found.append([cpu_ns(count) for _ in range(pieces)])
    return found


def beside(pid: int, pairs: int, seconds: float) -> list[tuple[int, int]]:
    """Both of a pair in random order."""
    count, times = size(seconds), []
    for _ in range(pairs):
        pair = [0, 0]
        for run in random.sample((0, 1), 2):
            let(pid, bool(run))
            pair[run] = cpu_ns(count)
        times.append((pair[0], pair[1]))
    return times


def let(pid: int, run: bool) -> None:
    """Resumes or stops the process, and waits until it has."""
    os.kill(pid, signal.SIGCONT if run else signal.SIGSTOP)
    while True:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  (starts faster)
            if file.read().rpartition(b")")[2].split()[0] == (b"R" if run else b"T"):
                return
        time.sleep(0.0005)


def nap(rounds: int, count: int, us: int) -> list[list[int]]:
    """Without timer slack, by which the kernel may delay a timer by 50 µs."""
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)

    def late_ns() -> int:
        began = time.monotonic_ns()
        time.sleep(us / 1e6)
        return time.monotonic_ns() - began - us * 1000

    return [[late_ns() for _ in range(count)] for _ in range(rounds)]


def busy() -> None:
    print("true", flush=True)
    while True:
        compute(100_000)


TASKS: dict[str, Callable[..., object]] = {
    task.__name__: task for task in (watch, work, beside, nap, busy)
}

if __name__ == "__main__":
    gc.disable()
    print(json.dumps(TASKS[sys.argv[1]](*map(json.loads, sys.argv[2:]))))

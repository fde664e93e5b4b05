"""A program that does small tasks on the CPU that it is pinned to and reports how long they took.

It runs as `python worker.py` and imports nothing else of the lab: a request a line in, an answer as
a line of JSON out.

    compute N       N rounds of arithmetic: CPU time in ns
    calls N         opens, reads and closes a small file N times: the same
    watch SECONDS   reads the clock continuously: time lost where it jumps, in ns
    nap N US        sleeps N times for US microseconds: by how many ns each was too long
    clock N         the cost of N readings of the clock in ns, without that of a function call
    busy            computes until it is killed
"""

import ctypes
import gc
import json
import resource
import sys
import time
from collections.abc import Callable

# A timer interrupt takes a few µs on any CPU; shorter jumps are no disturbance.
JUMP_NS = 10_000
PIECES = 10
PR_SET_TIMERSLACK = 29
SMALL_FILE = "/proc/self/stat"


def rounds(count: int) -> None:
    value = 1
    for _ in range(count):
        value = (value * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF


def compute(count: int) -> int:
    cpu_ns = time.thread_time_ns()
    rounds(count)
    return time.thread_time_ns() - cpu_ns


def calls(count: int) -> int:
    cpu_ns = time.thread_time_ns()
    for _ in range(count):
        with open(SMALL_FILE, "rb", buffering=0) as file:  # noqa: PTH123  (least overhead)
            file.read(4096)
    return time.thread_time_ns() - cpu_ns


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


def nap(count: int, us: int) -> list[int]:
    """Without timer slack, by which the kernel may delay a timer by 50 µs."""
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
    late: list[int] = []
    for _ in range(count):
        began = time.monotonic_ns()
        time.sleep(us / 1e6)
        late.append(time.monotonic_ns() - began - us * 1000)
    return late


def clock(count: int) -> int:
    """Two loops call a function that returns a number; only the first reads the clock."""
    now, other, cpu_ns = time.monotonic_ns, sys.getrecursionlimit, time.thread_time_ns
    first = cpu_ns()
    for _ in range(count):
        now()
    second = cpu_ns()
    for _ in range(count):
        other()
    return (second - first) - (cpu_ns() - second)


def busy() -> None:
    print("true", flush=True)
    while True:
        rounds(100_000)


TASKS: dict[str, Callable[..., object]] = {
    task.__name__: task for task in (compute, calls, watch, nap, clock, busy)
}

if __name__ == "__main__":
    gc.disable()
    for request in sys.stdin:
        name, *numbers = request.split()
        print(json.dumps(TASKS[name](*map(json.loads, numbers))), flush=True)

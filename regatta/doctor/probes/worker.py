"""A small program that does one thing on the CPU that it is pinned to, and says how long it took.

It runs alone (`python worker.py`), without the laboratory: a line in, a line of JSON out.

    compute N       N rounds of plain computing: wall and CPU time, in ns
    calls N         N times a small file opened, read and closed: the same
    watch SECONDS   reads the clock all the time: where it jumps, time was lost
    nap N US        N sleeps of US microseconds: by how many ns each was too long
    clock N         what N readings of the clock cost beyond the call of a function: ns in all
    busy            computes until it is killed
"""

import ctypes
import gc
import json
import resource
import sys
import time

# A timer's interrupt takes a few µs, of each CPU, whoever runs: what is shorter is no disturbance.
JUMP_NS = 10_000
PIECES = 10
PR_SET_TIMERSLACK = 29
SMALL_FILE = "/proc/self/stat"


def rounds(count: int) -> int:
    value = 1
    for _ in range(count):
        value = (value * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
    return value


def reads(count: int) -> None:
    for _ in range(count):
        with open(SMALL_FILE, "rb", buffering=0) as file:  # noqa: PTH123  (less of our own in it)
            file.read(4096)


def timed(task: str, count: int) -> dict[str, int]:
    wall, cpu = time.monotonic_ns(), time.thread_time_ns()
    rounds(count) if task == "compute" else reads(count)
    return {"cpu_ns": time.thread_time_ns() - cpu, "wall_ns": time.monotonic_ns() - wall}


def switches() -> int:
    """How often another program was given this CPU in place of this one."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def watch(seconds: float) -> list[dict[str, int]]:
    """For each of some pieces: its length, and the time lost to others and to nobody visible."""
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
            # Who was switched to took it; if nobody was, an interrupt did, or the host.
            count = switches()
            taker = "others" if count > known else "unseen"
            lost[f"{taker}_ns"] += jump
            lost[f"{taker}_longest_ns"] = max(lost[f"{taker}_longest_ns"], jump)
            known, last = count, now()
    return {"wall_ns": last - first, **lost}


def nap(count: int, us: int) -> list[int]:
    """The kernel may delay a timer by 50 µs to save power; a server that polls is not delayed."""
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
    late: list[int] = []
    for _ in range(count):
        began = time.monotonic_ns()
        time.sleep(us / 1e6)
        late.append(time.monotonic_ns() - began - us * 1000)
    return late


def clock(count: int) -> int:
    """Both loops call a function that gives a number; only one of them asks the time."""
    now, other, cpu_ns = time.monotonic_ns, sys.getrecursionlimit, time.thread_time_ns
    first = cpu_ns()
    for _ in range(count):
        now()
    second = cpu_ns()
    for _ in range(count):
        other()
    return (second - first) - (cpu_ns() - second)


def answer(task: str, values: list[str]) -> object:
    if task in {"compute", "calls"}:
        return timed(task, int(values[0]))
    if task == "watch":
        return watch(float(values[0]))
    if task == "nap":
        return nap(int(values[0]), int(values[1]))
    if task == "clock":
        return clock(int(values[0]))
    if task == "busy":
        print("true", flush=True)
        while True:
            rounds(100_000)
    raise SystemExit(f"no such task: {task}")


if __name__ == "__main__":
    gc.disable()
    for request in sys.stdin:
        name, *arguments = request.split()
        print(json.dumps(answer(name, arguments)), flush=True)

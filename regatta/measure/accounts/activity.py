"""What a CPU does, told from a sampled stack.

Where samples come from a clock instead of a performance counter, the interrupts are off in some
sections of the kernel, and their samples fall on what turns them on again. So an activity is told
by the outermost frames of a stack, which enclose such sections, and never by the innermost one; in
user code, where interrupts are on, by the function.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from regatta.record.activities import (
    END,
    FAULTS,
    GENERATED,
    IDLE,
    INTERRUPTS,
    KERNEL_THREADS,
    OTHERS,
    PACKETS,
    SCHEDULING,
    START,
    SYSTEM_CALLS,
    UNKNOWN,
    USER,
    path_of,
)

Frame = tuple[str, str]
"""Function and the file that it is in."""
HEAD = re.compile(r"(.*?)\s+(\d+)\s*$")
FRAME = re.compile(r"\s+[0-9a-f]+ (.*) \(([^()]*)(?: \(deleted\))?\)$")
MADE = re.compile(r"perf-\d+\.map|\[JIT\].*|anon|memfd:.*|\[heap\]")
"""Files of code that a program made at run time. perf names it where the program says how, in
/tmp/perf-PID.map: node --perf-basic-prof, python3 -X perf, Java's -XX:+DumpPerfMapAtExit."""
FORK = re.compile(r"PERF_RECORD_FORK\((?P<child>\d+):\d+\):\((?P<parent>\d+):")
KERNEL = ("[kernel.kallsyms]", "[guest.kernel.kallsyms]")

OF_A_PROGRAM = (USER, SYSTEM_CALLS, START, END, FAULTS)
CALL = r"__(?:x64|ia32|arm64|riscv|s390x?|se|do)_sys_"
OUTER = re.compile(
    rf"""(?P<faults>(?:asm_)?exc_page_fault|do_user_addr_fault|do_mem_abort)
    | {CALL}(?P<start>clone3?|v?fork|execve)
    | {CALL}(?P<end>exit|exit_group|wait4|waitid)
    | {CALL}(?P<call>\w+)
    | do_(?P<killed>exit)
    | (?P<ring>io_wq_worker|io_sq_thread)
    | (?P<thread>kthread)
    | (?P<work>task_work_run)
    | (?P<interrupt>asm_sysvec_\w+|asm_common_interrupt|el[01]t?_\w*irq\w*)
    """,
    re.VERBOSE,
)
"""Functions of the kernel that tell an activity."""
SWITCHES = {"schedule", "__schedule"}
BY_SOFTIRQ = {
    "rcu_core": path_of(INTERRUPTS, "freeing memory (RCU)"),
    "run_timer_softirq": path_of(INTERRUPTS, "timers"),
    "hrtimer_run_softirq": path_of(INTERRUPTS, "timers"),
    "run_rebalance_domains": SCHEDULING,
    "sched_balance_softirq": SCHEDULING,
}
"""By the function that handles it."""
STAGES = {
    "tcp": {"tcp_v4_rcv", "tcp_v6_rcv", "tcp_v4_do_rcv", "tcp_v6_do_rcv"},
    "ip": {"ip_rcv", "ip_list_rcv", "ip_local_deliver", "ipv6_rcv", "ipv6_list_rcv"},
}
"""Of a packet that is received, the last first."""


def activities(text: str, server: int) -> Iterator[str]:
    """Of each sample that `perf script` prints (perf.py), frames the innermost first.

    `server`: its process id. Its descendants are known by the forks that perf prints in between,
    those of before too. What other programs did is one activity, except what they did for all.
    """
    ours, pid, thread = {server}, 0, ""
    frames: list[Frame] | None = None
    for line in [*text.split("\n"), ""]:
        if not line:
            if frames is not None:
                found = activity(pid, thread, frames)
                is_strange = pid and pid not in ours and found.startswith(OF_A_PROGRAM)
                yield OTHERS if is_strange else found
            frames = None
        elif fork := FORK.search(line):
            if int(fork["parent"]) in ours:
                ours.add(int(fork["child"]))
        elif frames is None:
            if head := HEAD.match(line):
                thread, pid, frames = head[1].strip(), int(head[2]), []
        elif frame := FRAME.match(line):
            frames.append((frame[1], frame[2]))


def activity(pid: int, thread: str, frames: Sequence[Frame]) -> str:
    """Of one sample; `thread`: its name."""
    kernel = [function for function, file in frames if file in KERNEL]
    if handled := in_softirq(set(kernel)):
        return handled
    if not kernel:
        function, file = frames[0] if frames else (UNKNOWN, UNKNOWN)
        name = Path(file).name
        return path_of(USER, GENERATED if MADE.fullmatch(name) else name, function)
    return IDLE if pid == 0 else in_kernel(kernel, thread)


def in_softirq(inside: set[str]) -> str:
    """What it is for; empty outside.

    One without a handler has only begun, and interrupts were off until then: the clock ticked
    before, in a system call, in an interrupt, or while the CPU slept.
    """
    if inside & {"net_rx_action", "net_tx_action"}:
        reached = (stage for stage, functions in STAGES.items() if inside & functions)
        return path_of(PACKETS, next(reached, "device"))
    return next((path for function, path in BY_SOFTIRQ.items() if function in inside), "")


def in_kernel(functions: Sequence[str], thread: str) -> str:
    """By the outermost function that tells."""
    found = next(filter(None, map(OUTER.fullmatch, reversed(functions))), None)
    inside = set(functions)
    if found is None or found.lastgroup == "interrupt":
        if inside & SWITCHES:
            return SCHEDULING
        if found is not None:
            return path_of(INTERRUPTS, "timers")
        if inside & {"ret_from_fork", "ret_from_fork_asm"}:
            return path_of(START, "first run")
        return path_of(SYSTEM_CALLS, "entry and exit")
    kind = found.lastgroup or ""
    return {
        "faults": FAULTS,
        "start": path_of(START, found[kind]),
        "end": path_of(END, found[kind]),
        "killed": path_of(END, found[kind]),
        "call": path_of(SYSTEM_CALLS, found[kind]),
        "ring": path_of(SYSTEM_CALLS, "io_uring threads"),
        "work": path_of(SYSTEM_CALLS, "deferred work"),
        "thread": path_of(KERNEL_THREADS, re.split(r"[/:-]", thread)[0]),
    }[kind]

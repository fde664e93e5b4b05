"""What a CPU does, told from a sampled stack: a path, from the general to the particular.

Where samples come from a clock instead of a performance counter, the interrupts are off in some
sections of the kernel, and their samples fall on what turns them on again. So an activity is told
by the outermost frames of a stack, which enclose such sections, and never by the innermost one; in
user code, where interrupts are on, by the function.
"""

import re
from collections.abc import Sequence
from functools import cache

from regatta.record.recordings import (
    END,
    FAULTS,
    IDLE,
    INTERRUPTS,
    KERNEL,
    KERNEL_THREADS,
    OTHERS,
    PACKETS,
    SCHEDULING,
    SEPARATOR,
    START,
    SYSTEM_CALLS,
    UNKNOWN,
    USER,
    folded,
)

OF_A_PROGRAM = (USER, SYSTEM_CALLS, START, END, FAULTS)
"""The others cannot be told apart by program."""

CALL = r"(?:__(?:(?:x64|ia32|arm64|riscv|s390x?|se|do)_)?sys_|ksys_|kernel_(?=clone|wait4))"
"""Before the name of a call; the wrapper of some has no frame, as it ends with a jump."""
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
    "rcu_core": folded(INTERRUPTS, "freeing memory (RCU)"),
    "run_timer_softirq": folded(INTERRUPTS, "timers"),
    "hrtimer_run_softirq": folded(INTERRUPTS, "timers"),
    "run_rebalance_domains": SCHEDULING,
    "sched_balance_softirq": SCHEDULING,
}
"""By the function that handles it."""
STAGES = {
    "tcp": {"tcp_v4_rcv", "tcp_v6_rcv", "tcp_v4_do_rcv", "tcp_v6_do_rcv"},
    "ip": {"ip_rcv", "ip_list_rcv", "ip_local_deliver", "ipv6_rcv", "ipv6_list_rcv"},
}
"""Of a packet that is received, the last first."""


@cache
def activity(stack: str) -> str:
    """IDLE, OTHERS, or a path that begins with one of ACTIVITIES."""
    root, *frames = stack.split(SEPARATOR)
    kernel = [frame.removesuffix(KERNEL) for frame in frames if frame.endswith(KERNEL)]
    if handled := in_softirq(set(kernel)):
        return handled
    if root == IDLE:
        return IDLE
    thread = frames[0] if root == OTHERS else root
    found = in_kernel(kernel, thread) if kernel else in_user_code(frames)
    return OTHERS if root == OTHERS and found.startswith(OF_A_PROGRAM) else found


def in_user_code(frames: Sequence[str]) -> str:
    function, _, file = frames[-1].rpartition(" (") if frames else (UNKNOWN, "", UNKNOWN)
    return folded(USER, file.removesuffix(")"), function)


def in_softirq(inside: set[str]) -> str:
    """What it is for; empty outside.

    One without a handler has only begun, and interrupts were off until then: the clock ticked
    before, in a system call, in an interrupt, or while the CPU slept.
    """
    if inside & {"net_rx_action", "net_tx_action"}:
        reached = (stage for stage, functions in STAGES.items() if inside & functions)
        return folded(PACKETS, next(reached, "device"))
    return next((path for function, path in BY_SOFTIRQ.items() if function in inside), "")


def in_kernel(functions: Sequence[str], thread: str) -> str:
    """By the outermost function that tells."""
    found = next(filter(None, map(OUTER.fullmatch, functions)), None)
    inside = set(functions)
    if found is None or found.lastgroup == "interrupt":
        if inside & SWITCHES:
            return SCHEDULING
        if found is not None:
            return folded(INTERRUPTS, "timers")
        if inside & {"ret_from_fork", "ret_from_fork_asm"}:
            return folded(START, "first run")
        return folded(SYSTEM_CALLS, "entry and exit")
    kind = found.lastgroup or ""
    return {
        "faults": FAULTS,
        "start": folded(START, found[kind]),
        "end": folded(END, found[kind]),
        "killed": folded(END, found[kind]),
        "call": folded(SYSTEM_CALLS, found[kind]),
        "ring": folded(SYSTEM_CALLS, "io_uring threads"),
        "work": folded(SYSTEM_CALLS, "deferred work"),
        "thread": folded(KERNEL_THREADS, thread),
    }[kind]

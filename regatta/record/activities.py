"""Names of what a CPU does, as the ledger has them: paths, from the general to the particular."""

USER = "user code"
"""By file and function."""
GENERATED = "generated code"
"""In place of a file: made by the program at run time."""
UNKNOWN = "[unknown]"
"""A function without a name."""
SYSTEM_CALLS = "system calls"
START, END = "start of tasks", "end of tasks"
FAULTS = "page faults"
PACKETS = "packets received"
"""In softirqs, by the last protocol that they reached; those sent are in system calls."""
INTERRUPTS = "interrupts and timers"
SCHEDULING = "scheduling"
KERNEL_THREADS = "kernel threads"
IDLE = "idle"
OTHERS = "other programs"
"""In user code, system calls and faults. Packets, interrupts and threads of the kernel that are
theirs cannot be told from the server's."""
ACTIVITIES = (
    *(USER, SYSTEM_CALLS, START, END, FAULTS),
    *(PACKETS, INTERRUPTS, SCHEDULING, KERNEL_THREADS),
)
"""In the order of every table and chart; without idling and other programs."""

SEPARATOR = ";"


def path_of(*names: str) -> str:
    return SEPARATOR.join(name.replace(SEPARATOR, ",") for name in names)

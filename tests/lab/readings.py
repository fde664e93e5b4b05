"""The kernel's accounts of a process, made up."""

from typing import Any

from regatta.machine.accounting import Reading

COUNTED = ("clock_ns", "reaped_ns", "user_ns", "system_ns", "page_faults", "thread_run_ns")


def reading(**changes: Any) -> Reading:
    """Of one that has done nothing but this."""
    nothing = dict.fromkeys((*COUNTED, "context_switches"), 0)
    return Reading(**{**nothing, "threads": frozenset(), **changes})

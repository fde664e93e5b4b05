"""The kernel's accounts of a process, made up."""

from typing import Any

from regatta.machine.accounting import TreeAccounts

COUNTED = ("clock_ns", "reaped_ns", "user_ns", "system_ns", "page_faults", "thread_run_ns")


def reading(**changes: Any) -> TreeAccounts:
    """Of one that has done nothing but this."""
    nothing = dict.fromkeys((*COUNTED, "context_switches"), 0)
    return TreeAccounts(**{**nothing, "threads": frozenset(), **changes})

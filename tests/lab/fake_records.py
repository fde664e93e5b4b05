"""Made-up kernel accounts of a process, and trials."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from regatta.measure.accounts.process_tree import TreeAccounts
from regatta.record.counters import Counter
from regatta.record.records import Trial

COUNTED = ("clock_ns", "reaped_ns", "user_ns", "system_ns", "page_faults", "thread_run_ns")


def reading(**changes: Any) -> TreeAccounts:
    """A process that has done nothing except `changes`."""
    nothing = dict.fromkeys((*COUNTED, "context_switches"), 0)
    return TreeAccounts(**{**nothing, "threads": frozenset(), **changes})


def trial(counters: Mapping[tuple[str, str, str], Counter], **known: Any) -> Trial:
    """A successful trial with only these facts."""
    needed = (one for one in fields(Trial) if one.default is one.default_factory is MISSING)
    plain = dict.fromkeys(one.name for one in needed)
    plain |= {"id": 1, "block": 1, "cell_id": 1, "status": "ok", "unstarted": 0, "attempt": 1}
    plain |= {"conditions": {}, "workers": [], "superseded": False, "counters": dict(counters)}
    return Trial(**(plain | known))

"""Made-up kernel accounts of a process, and trials."""

from collections.abc import Mapping
from typing import Any

from regatta.measure.accounts.process_tree import TreeAccounts
from regatta.record.counters import Counter
from regatta.record.records import Trial


def reading(**changes: Any) -> TreeAccounts:
    """A process that has done nothing except `changes`."""
    return TreeAccounts(**changes)


def trial(counters: Mapping[tuple[str, str, str], Counter], **known: Any) -> Trial:
    """A successful trial with only these facts."""
    return Trial(**{"id": 1, "block": 1, "cell_id": 1, "counters": dict(counters), **known})

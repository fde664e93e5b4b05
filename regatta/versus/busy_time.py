"""Whether the busy time of the server's CPUs contradicts a verdict by charged time.

With steered packets, charged time lacks what the kernel did for a server while its CPU was asleep.
A head that moves work there would look cheaper than it is.
"""

import math
from collections.abc import Collection

import numpy as np

from regatta.analysis.statistics.paired_mean import PairedMean
from regatta.analysis.statistics.rank_conflicts import Measures, log_ratios
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.unconfirmed_leads import unconfirmed_leads

Accounts = tuple[Measures, Measures]
"""Of base and of head: charged and busy time per request, by block."""


def in_blocks(accounts: Accounts, blocks: Collection[int]) -> Accounts:
    def kept(values: BlockValues) -> BlockValues:
        return {block: value for block, value in values.items() if block in blocks}

    base, head = ((kept(charged), kept(busy)) for charged, busy in accounts)
    return base, head


def denies_regression(accounts: Accounts, threshold: float) -> bool:
    """Busy time shows that head stays below the threshold, or not that it passes it, though the two
    accounts are shown to differ."""
    (charged, busy), head = accounts
    # The same time is added to both accounts: the gap between them stays as it is.
    allowed = {block: threshold * value for block, value in charged.items()}
    at_threshold, busy_then = (
        {block: value + allowed[block] for block, value in of.items()} for of in (charged, busy)
    )
    return bool(unconfirmed_leads({(None, "base", "head"): ((at_threshold, busy_then), head)}))


def shows_regression(accounts: Accounts, threshold: float, level: float) -> bool:
    """The whole interval of head / base is above 1 + `threshold`. What else runs on the CPUs can
    only bring the ratio nearer to 1."""
    (_, base), (_, head) = accounts
    ratios = log_ratios(head, base)
    interval = PairedMean(np.array(list(ratios.values()))).interval(level) if ratios else None
    return interval is not None and interval[0] > math.log1p(threshold)

"""Whether the busy time of the server's CPUs contradicts a verdict by charged time.

With steered packets, charged time lacks what the kernel did for a server while its CPU was asleep.
A head that moves work there would look cheaper than it is.
"""

import math

import numpy as np

from regatta.analysis.statistics.paired_mean import PairedMean
from regatta.analysis.statistics.rank_conflicts import Measures
from regatta.analysis.statistics.unconfirmed_leads import BUSY, unconfirmed_leads

Accounts = tuple[Measures, Measures]
"""Of base and of head: charged and busy time per request, by block."""


def denies_regression(accounts: Accounts) -> bool:
    """Busy time shows that head needs less, or not that it needs more, though the two accounts are
    shown to differ."""
    base, head = accounts
    return bool(unconfirmed_leads({(None, "base", "head"): (base, head)}))


def shows_regression(accounts: Accounts, threshold: float, level: float) -> bool:
    """The whole interval of head / base is above 1 + `threshold`. What else runs on the CPUs can
    only bring the ratio nearer to 1."""
    base, head = (measures[BUSY] for measures in accounts)
    shared = sorted(base.keys() & head.keys())
    if not shared:
        return False
    ratios = np.log([head[block] / base[block] for block in shared])
    interval = PairedMean(ratios).interval(level)
    return interval is not None and interval[0] > math.log1p(threshold)

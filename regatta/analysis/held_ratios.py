"""How the rates that contenders hold compare, paired in the blocks of their searches.

A search has few blocks, and resolves a rate to a few per cent. So Student's t of the blocks' ratios
is used, with a spread of at least that resolution, and ends that reach to the rates that were not
held. All pairs of all loads are one family (Bonferroni): which contender is best is seen only then.

Where the client was the limit, the server may hold any rate beyond: as the best, it holds "at
least" so many times as much, and nothing is said of how far it is behind another.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.analysis.columns import AgainstBest
from regatta.analysis.contrast import outward
from regatta.analysis.standings import LARGER, NO_DIFFERENCE, TOO_FEW, seen
from regatta.analysis.statistics.level import LEVEL
from regatta.analysis.statistics.percentile_comparison import FEWEST_BLOCKS
from regatta.analysis.statistics.sign_flips import POWER, BlockValues
from regatta.ledger.rate_search import CLIENT, LOWEST, TOLERANCE, Search
from regatta.ledger.result import SERVER

HELD = "held_rate_per_s"
CLIENT_LIMITED = "the client was its limit"
Bracket = tuple[float, float]
"""Logarithms of the highest rate that was held, and of the lowest that was not; infinite if the
client was the limit."""
Brackets = Mapping[int, Bracket]
"""By block of the search."""


def bracket(search: Search) -> Bracket:
    held = math.log(max(LOWEST, search.held))
    if search.over is None or (search.why or "").startswith(CLIENT):
        return held, math.inf
    return held, math.log(search.over)


def held_against_best(groups: Sequence[Mapping[str, Brackets]]) -> list[list[AgainstBest]]:
    """All others against the best of each group, a load; without those that hold nothing.

    `at` is the number of the group.
    """
    pairs = sum(len(list(combinations(one, 2))) for one in groups)
    return [_group(at, one, LEVEL / max(1, pairs)) for at, one in enumerate(groups)]


def _group(at: int, rates: Mapping[str, Brackets], level: float) -> list[AgainstBest]:
    ranked = sorted(
        rates, key=lambda name: -sum(held for held, _ in rates[name].values()) / len(rates[name])
    )
    return [_against(at, rates, (ranked[0], name), level) for name in ranked[1:]]


def _against(
    at: int, rates: Mapping[str, Brackets], names: tuple[str, str], level: float
) -> AgainstBest:
    best, other = (rates[name] for name in names)
    blocks = sorted(best.keys() & other.keys())
    key = (at, HELD, SERVER, names[1], names[0])
    without = AgainstBest(*key, None, None, None, None, None, len(blocks), None, TOO_FEW)
    if len(blocks) < FEWEST_BLOCKS:
        return without
    logs = np.array([best[block][0] - other[block][0] for block in blocks])
    # How far the true ratio may be beyond the measured one, and below it.
    beyond = float(np.mean([best[block][1] - best[block][0] for block in blocks]))
    below = float(np.mean([other[block][1] - other[block][0] for block in blocks]))
    if math.isinf(below):
        return AgainstBest(*key, None, None, None, None, None, len(blocks), None, CLIENT_LIMITED)
    free = len(blocks) - 1
    error = max(float(logs.std(ddof=1)), math.log(TOLERANCE)) / math.sqrt(len(blocks))
    reach = float(special.stdtrit(free, 1 - level / 2)) * error
    mean = float(logs.mean())
    low = mean - reach - below
    detectable = reach + below + float(special.stdtrit(free, POWER)) * error
    return AgainstBest(
        *key,
        scale="ratio",
        value=outward(mean, "ratio"),
        low=outward(low, "ratio"),
        high=None if math.isinf(beyond) else outward(mean + reach + beyond, "ratio"),
        p_value=min(1.0, LEVEL / level * 2 * float(special.stdtr(free, (below - mean) / error))),
        blocks=len(blocks),
        detectable=seen(outward(detectable, "ratio")),
        outcome=LARGER if low > 0 else NO_DIFFERENCE,
    )


def worse_by(base: Sequence[Brackets], head: Brackets) -> BlockValues:
    """By block, the logarithm of how many times as much the base holds as the head.

    `base`: the same server, searched once or several times. Whoever holds all that the client can
    ask loses to nobody in that block.
    """
    blocks = sorted(set.intersection(*(set(one) for one in (*base, head))))
    found = {}
    for block in blocks:
        loss = sum(one[block][0] for one in base) / len(base) - head[block][0]
        if math.isinf(head[block][1]):
            loss = min(loss, 0.0)
        if any(math.isinf(one[block][1]) for one in base):
            loss = max(loss, 0.0)
        found[block] = loss
    return found

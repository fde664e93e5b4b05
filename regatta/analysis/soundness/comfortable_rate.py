"""The rate at which a client-bound client would not be the bottleneck."""

import math
from collections.abc import Sequence

from regatta.ledger.cell import Cell
from regatta.ledger.metrics import PRIMARY
from regatta.ledger.rate_search import CLIENT_LIMIT
from regatta.ledger.records import Trial

ONE_THREAD = "epoll"
"""The engine with one thread, which cannot use more CPUs."""


def uses_more_cpus(cell: Cell) -> bool:
    return cell.engine != ONE_THREAD


def comfortable_rate(cell: Cell, trials: Sequence[Trial], cpus: int) -> int | None:
    """Half the client's capacity in requests a second, rounded down to two digits."""
    assert PRIMARY.read is not None
    found = [PRIMARY.read(trial, "client") for trial in trials]
    costs = [cost for cost in found if not isinstance(cost, str) and cost > 0]
    if not costs:
        return None
    usable_cpus = min(cpus, cell.connections) if uses_more_cpus(cell) else 1
    rate = CLIENT_LIMIT * usable_cpus * 1e6 * len(costs) / sum(costs)
    digits = 10 ** max(0, math.floor(math.log10(rate)) - 1)
    return int(rate // digits * digits)

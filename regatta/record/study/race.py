"""`[race]`: repetitions, slices, sittings, when the race ends; and its plan, the order of all
trials."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from regatta.errors import StudyError
from regatta.record.records import ALONE, COUNTED_TRIAL, SAMPLED, TIMED, TRACED, PlannedTrial
from regatta.record.study import keys, limits
from regatta.record.study.limits import MAX_BLOCKS

MOST_TRACED = 2
"""Blocks: one has hundreds of requests already."""


def traced_blocks(sampled_blocks: int) -> int:
    """Those that are traced, beside the sampled ones."""
    return min(sampled_blocks, MOST_TRACED)


def block_kinds(
    blocks: int, counted_blocks: int, alone: int = 0, sampled: int = 0, traced: int = 0
) -> list[str]:
    """The kinds of all blocks in order, with the further ones spread evenly over the timed ones.

    Drift during a race (heat, neighbours) then affects all kinds equally.
    """
    kinds = spread([TIMED] * blocks, COUNTED_TRIAL, counted_blocks)
    kinds = spread(spread(kinds, ALONE, alone), SAMPLED, sampled)
    return spread(kinds, TRACED, traced)


def spread(kinds: Sequence[str], kind: str, count: int) -> list[str]:
    """Inserts `count` blocks of a kind at even distances."""
    total = len(kinds) + count
    positions = {(2 * number + 1) * total // (2 * count) for number in range(count)}
    others = iter(kinds)
    return [kind if position in positions else next(others) for position in range(total)]


def make_plan(  # noqa: PLR0913, PLR0917  (all that a plan follows from)
    cells: int,
    blocks: int,
    counted_blocks: int,
    seed: int,
    sittings: int = 1,
    alone_blocks: int = 0,
    sampled_blocks: int = 0,
    is_traced: bool = True,
    cells_of: Mapping[str, Sequence[int]] = {},
) -> list[PlannedTrial]:
    """Every block holds every cell once, in a new random order; every sitting holds all blocks.

    `cells_of`: of a kind that does not hold all, the ids of its cells. Block numbers
    continue over all sittings.
    """
    chance = random.Random(seed)
    traced = traced_blocks(sampled_blocks) if is_traced else 0
    kinds = block_kinds(blocks, counted_blocks, alone_blocks, sampled_blocks, traced)
    plan: list[PlannedTrial] = []
    for block, kind in enumerate(kinds * sittings, start=1):
        order = list(cells_of.get(kind, range(1, cells + 1)))
        chance.shuffle(order)
        sitting = (block - 1) // len(kinds) + 1
        plan += [
            PlannedTrial(block, position, cell_id, kind, sitting)
            for position, cell_id in enumerate(order, start=1)
        ]
    return plan


MAX_PAUSE_S = 7 * 86_400
SECONDS_PER_UNIT = {"s": 1, "m": 60, "min": 60, "h": 3_600}
PATTERN = re.compile(r"(\d{1,6})(s|min|m|h)")


def parse_pause(text: object, option: str) -> int:
    """Reads `90s`, `10min` or `1h`: seconds."""
    match = PATTERN.fullmatch(text) if isinstance(text, str) else None
    seconds = int(match[1]) * SECONDS_PER_UNIT[match[2]] if match else -1
    if not 0 <= seconds <= MAX_PAUSE_S:
        most_h = MAX_PAUSE_S // SECONDS_PER_UNIT["h"]
        raise StudyError(f"{option} is {text!r}; write 90s, 10min or 1h, at most {most_h}h")
    return seconds


Pause = Annotated[int, BeforeValidator(lambda value: parse_pause(value, "`race.pause`"))]


class RaceTable(keys.TomlTable):
    blocks: Annotated[int, keys.whole(1, MAX_BLOCKS)] = 10
    counted_blocks: Annotated[int, keys.whole(0, MAX_BLOCKS)] = 2
    alone_blocks: Annotated[int, keys.whole(0, MAX_BLOCKS)] = 0
    """Additional blocks in which only one server runs at a time."""
    sampled_blocks: Annotated[int, keys.whole(0, MAX_BLOCKS)] = 0
    """Additional blocks in which perf samples what the server's CPUs do; in up to MOST_TRACED
    further ones requests are followed."""
    slices: Annotated[int, keys.whole(1, 1_000)] = 1
    """Parts of each load; with more than one, the servers of a block run at the same time."""
    sittings: Annotated[int, keys.whole(1, limits.MAX_SITTINGS)] = 1
    """Repetitions of the whole race, each with new networks and relinked servers."""
    pause_s: Pause = Field(default=0, alias="pause")
    """Pause between two sittings."""
    width_percent: Annotated[float, keys.number(0.1, 100)] | None = None
    """The race ends when the interval of every lead in the standings is narrower (upper end over
    lower end). It never ends because of the result."""
    most_blocks: Annotated[int, keys.whole(1, MAX_BLOCKS)] | None = None
    """The largest number of timed blocks; the smallest is `blocks`."""
    seed: Annotated[int, keys.whole(0, limits.MAX_SEED)] | None = None
    search_blocks: Annotated[int, keys.whole(2, 100)] = 4
    """Matched loads: how often the sustained rate of each contender is searched."""
    warmup_limit_s: Annotated[float, keys.number(0, limits.MAX_WARMUP_LIMIT_S)] = (
        limits.DEFAULT_WARMUP_LIMIT_S
    )
    """How long a server is warmed at most until it is steady; 0: by one round of requests."""
    whole_cost: keys.Flag = False
    """Measure each server's start-up time and memory too."""
    answers_may_differ: keys.Flag = False
    """Whether contenders may answer differently, and each in another way under load."""
    disturbance_limit_percent: Annotated[float, keys.number(0.1, 1e6)] = (
        limits.DEFAULT_DISTURBANCE_LIMIT_PERCENT
    )
    """CPU that other programs may use before a trial counts as disturbed and is repeated. The most
    is more than any machine has."""

    def mistakes(self) -> Iterator[tuple[str, str]]:
        for key, other in (("width_percent", "most_blocks"), ("most_blocks", "width_percent")):
            if self.has(key) and not self.has(other):
                yield key, f"needs `race.{other}` too; add it"
        if self.most_blocks is not None and self.most_blocks < self.blocks:
            needed = f"it must be a whole number from {self.blocks} to {MAX_BLOCKS}"
            yield "most_blocks", f"is {self.most_blocks}; {needed}"
        if self.width_percent is not None and self.sittings > 1:
            yield (
                "width_percent",
                "and `race.sittings` cannot be combined: a result that is precise within one "
                "sitting may be far off in the next; set `blocks` instead",
            )

"""`[race]`: how often everything is raced, in what parts, and when it is enough."""

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from regatta.study import limits
from regatta.study.form import Form, number, whole, wrong
from regatta.study.pause import parse_pause


def read_pause(value: object) -> int:
    return parse_pause(value, "`race.pause`")


class RaceForm(Form):
    """The keys of `[race]`."""

    blocks: Annotated[int, whole(1, limits.MAX_BLOCKS)] = limits.DEFAULT_BLOCKS
    counted_blocks: Annotated[int, whole(0, limits.MAX_BLOCKS)] = limits.DEFAULT_COUNTED_BLOCKS
    alone_blocks: Annotated[int, whole(0, limits.MAX_BLOCKS)] = 0
    """Further ones in which nobody stands beside the server that is raced."""
    slices: Annotated[int, whole(1, limits.MAX_SLICES)] = 1
    """Parts of each load; with more than one the servers of a block stand side by side."""
    sittings: Annotated[int, whole(1, limits.MAX_SITTINGS)] = 1
    """How often all of it is raced, each time with fresh networks and servers linked anew."""
    pause_s: Annotated[int, BeforeValidator(read_pause)] = Field(default=0, alias="pause")
    """Between two sittings."""
    width_percent: (
        Annotated[float, number(limits.MIN_WIDTH_PERCENT, limits.MAX_WIDTH_PERCENT)] | None
    ) = None
    """It ends when every interval of a lead in the standings is narrower, and never because of
    what was found: the interval's upper end over its lower."""
    most_blocks: Annotated[int, whole(1, limits.MAX_BLOCKS)] | None = None
    """Timed blocks after which it ends anyway; it has at least `blocks`."""
    seed: Annotated[int, whole(0, limits.MAX_SEED)] | None = None
    search_blocks: Annotated[int, whole(2, limits.MAX_SEARCH_BLOCKS)] = limits.DEFAULT_SEARCH_BLOCKS
    """How often it is searched what each contender holds, where a load is matched."""
    warmup_rounds: Annotated[int, whole(0, limits.MAX_WARMUP_ROUNDS)] = limits.DEFAULT_WARMUP_ROUNDS
    disturbance_limit_percent: Annotated[
        float, number(limits.MIN_DISTURBANCE_PERCENT, limits.MAX_DISTURBANCE_PERCENT)
    ] = limits.DEFAULT_DISTURBANCE_LIMIT_PERCENT
    """What others may use of a CPU before a trial counts as disturbed and is run again."""

    @model_validator(mode="after")
    def check_width(self) -> Self:
        """Both of its keys, or none."""
        for key, other in (("width_percent", "most_blocks"), ("most_blocks", "width_percent")):
            if self.has(key) and not self.has(other):
                raise wrong(key, f"needs `race.{other}` too; add it")
        if self.most_blocks is not None and self.most_blocks < self.blocks:
            raise wrong(
                "most_blocks",
                f"is {self.most_blocks}; it must be a whole number from "
                f"{self.blocks} to {limits.MAX_BLOCKS}",
            )
        if self.width_percent is not None and self.sittings > 1:
            raise wrong(
                "width_percent",
                "and `race.sittings` cannot be combined: what is exact within one "
                "sitting may be far off in the next; say how many `blocks` each has",
            )
        return self

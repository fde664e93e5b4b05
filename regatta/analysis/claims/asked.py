"""What can be asked of a comparison: where its value lies, and on which side of a bound.

Three kinds: two cells, how many times one is the other where a value may be 0 or below (there the
logarithm of a ratio does not exist), and the power with which something grows. All rest on the one
way to compare two cells: a bound is tested by moving one of the two by as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from regatta.analysis.claims.evidence import Blocks
from regatta.analysis.claims.result import Scale
from regatta.analysis.contrast import FEWEST_BLOCKS, TOO_FEW_BLOCKS, Contrast, of_blocks

BELOW, AROUND, ABOVE = -1, 0, 1
HALVINGS = 24
MOST_TIMES = 1e9


class Test(Protocol):
    """Of one comparison."""

    @property
    def scale(self) -> Scale: ...
    @property
    def value(self) -> float | None: ...
    @property
    def blocks(self) -> int: ...
    def against(self, bound: float) -> Contrast:
        """How the value compares with a bound; no difference means that it is the bound."""

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """None: nothing bounds it on that side."""

    def detectable(self, level: float, /) -> float | None: ...


def p_value(test: Test, bound: float) -> float:
    """Two-sided, of the hypothesis that the value is the bound."""
    return test.against(bound).p_value()


def stands(test: Test, bound: float, level: float) -> int:
    """Where the interval lies: wholly below the bound, around it, or wholly above."""
    contrast = test.against(bound)
    if contrast.p_value() > level:
        return AROUND
    return ABOVE if contrast.value > (1 if contrast.scale == "ratio" else 0) else BELOW


@dataclass(frozen=True)
class OfTwo:
    """Two cells that are compared as everywhere else."""

    first: Blocks
    second: Blocks
    contrast: Contrast

    @property
    def scale(self) -> Scale:
        return self.contrast.scale

    @property
    def value(self) -> float:
        return self.contrast.value

    @property
    def blocks(self) -> int:
        return self.contrast.blocks

    def against(self, bound: float) -> Contrast:
        ratio = self.scale == "ratio"
        moved = {
            block: value * bound if ratio else value + bound for block, value in self.first.items()
        }
        return _contrast(moved, self.second, self.contrast.scale)

    def interval(self, level: float) -> tuple[float, float]:
        return self.contrast.interval(level)

    def detectable(self, level: float) -> float | None:
        return self.contrast.detectable(level)


@dataclass(frozen=True)
class Times:
    """How many times the first the second is, where the first may be 0 or negative.

    Fieller's way: k is in the interval if second - k x first, paired in blocks, may be 0.
    """

    first: Blocks
    second: Blocks

    @property
    def scale(self) -> Scale:
        return "ratio"

    @property
    def blocks(self) -> int:
        return len(self.first.keys() & self.second.keys())

    @property
    def value(self) -> float | None:
        shared = self.first.keys() & self.second.keys()
        below = sum(self.first[block] for block in shared)
        return sum(self.second[block] for block in shared) / below if below > 0 else None

    def against(self, bound: float) -> Contrast:
        scaled = {block: bound * value for block, value in self.first.items()}
        return _contrast(scaled, self.second, "difference")

    def interval(self, level: float) -> tuple[float | None, float | None]:
        start = self.value
        if start is None or start <= 0:
            return None, None
        return self._end(start, 0.0, ABOVE, level), self._end(start, MOST_TIMES, BELOW, level)

    def _end(self, inside: float, outside: float, side: int, level: float) -> float | None:
        if stands(self, outside, level) != side:
            return None
        for _ in range(HALVINGS):
            # Between far ends the geometric middle is nearer to what is sought.
            middle = math.sqrt(inside * outside) if outside > inside else (inside + outside) / 2
            if stands(self, middle, level) == side:
                outside = middle
            else:
                inside = middle
        return outside

    def detectable(self, _level: float) -> float | None:
        return None


@dataclass(frozen=True)
class Growth:
    """The power of the number of connections with which a metric grows: 1 is in proportion."""

    exponents: Blocks

    @property
    def scale(self) -> Scale:
        return "exponent"

    @property
    def value(self) -> float:
        return self.against(0.0).value

    @property
    def blocks(self) -> int:
        return len(self.exponents)

    def against(self, bound: float) -> Contrast:
        return _contrast(dict.fromkeys(self.exponents, bound), self.exponents, "difference")

    def interval(self, level: float) -> tuple[float, float]:
        return self.against(0.0).interval(level)

    def detectable(self, level: float) -> float | None:
        found = self.against(1.0).detectable(level)
        return None if found is None else 1 + found


def of_two(first: Blocks, second: Blocks, differences: bool, times: bool) -> Test | str:
    """`differences`: the values are some already; `times`: it is asked how many times."""
    contrast = of_blocks(first, second, "difference" if differences else None)
    if isinstance(contrast, str):
        return contrast
    if times and contrast.scale == "difference":
        return Times(first, second)
    return OfTwo(first, second, contrast)


def growth(columns: dict[int, Blocks]) -> Growth | str:
    """Of the metric by number of connections."""
    found = exponents(columns)
    return TOO_FEW_BLOCKS if len(found) < FEWEST_BLOCKS else Growth(found)


def exponents(columns: dict[int, Blocks]) -> Blocks:
    """The slope of a line through the logarithms, in each block that has all of them."""
    shared = set.intersection(*(set(column) for column in columns.values()))
    x = np.log(np.array(list(columns), dtype=np.float64))
    x -= x.mean()
    found: Blocks = {}
    for block in sorted(shared):
        y = np.array([column[block] for column in columns.values()], dtype=np.float64)
        if y.min() > 0:
            found[block] = float(x @ np.log(y) / (x @ x))
    return found


def _contrast(
    first: Blocks, second: Blocks, scale: Literal["ratio", "difference"] | None
) -> Contrast:
    found = of_blocks(first, second, scale)
    assert isinstance(found, Contrast), "the test was made of two blocks at least"
    return found

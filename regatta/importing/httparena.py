"""Reads a checkout of MDA2AV/HttpArena: its frameworks, and the results that it publishes.

frameworks/NAME has a meta.json and a Dockerfile; site/data/results/NAME.json has the results by
test and number of connections, such as `baseline-4096`.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from regatta.errors import UsageError
from regatta.importing.checkout import SkippedError, object_in, text_in
from regatta.importing.dockerfile import started_by
from regatta.study.limits import MAX_CONNECTIONS, MAX_RATE_PER_S, NAME_PATTERN

FRAMEWORKS = "frameworks"
RESULTS = ("site", "data", "results")
IMAGE_PATTERN = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*")
MOST = 1e12
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class ArenaTest:
    """A test that Regatta's client can run too: plain HTTP/1.1 without a body."""

    figure: str
    """The key of what is published."""
    rises: bool
    """Whether more is better."""
    what: str
    unit: str
    per_connection: int = 0
    is_paced: bool = False


TESTS = {
    "baseline": ArenaTest("rps", True, "serves more requests a second than", "requests/s"),
    "limited-conn": ArenaTest(
        "rps", True, "serves more requests a second than", "requests/s", per_connection=10
    ),
    "latency-10k": ArenaTest(
        "cpu_per_req_us", False, "uses less CPU per request than", "µs", is_paced=True
    ),
}


@dataclass(frozen=True)
class Framework:
    name: str
    title: str
    command: tuple[str, ...]
    connections: int
    published: float
    rate: int | None


@dataclass(frozen=True)
class Found:
    frameworks: list[Framework]
    """The best published first; all at the same load."""
    skipped: list[tuple[str, str]]
    """Names, and why they cannot be imported."""


def read_checkout(
    folder: Path, test: str, only: Collection[str], taken: Collection[str], most: int
) -> Found:
    """`only`: the frameworks that are wanted, all if empty; `taken`: names of designs."""
    root = folder.resolve()
    if not (root / FRAMEWORKS).is_dir() or not root.joinpath(*RESULTS).is_dir():
        raise UsageError(
            f"{folder} is no checkout of HttpArena: it lacks {FRAMEWORKS} or {'/'.join(RESULTS)}; "
            "first: git clone https://github.com/MDA2AV/HttpArena"
        )
    names = sorted(one.name for one in (root / FRAMEWORKS).iterdir())
    if unknown := sorted(set(only) - set(names)):
        raise UsageError(f"--only {unknown[0]}: there is no {FRAMEWORKS}/{unknown[0]} in {folder}")
    found: list[Framework] = []
    skipped: list[tuple[str, str]] = []
    for name in only or names:
        try:
            found.append(read_framework(root, name, test, taken))
        except SkippedError as error:
            skipped.append((name, str(error)))
    found.sort(key=lambda one: (-one.published if TESTS[test].rises else one.published, one.name))
    return cut(found, skipped, most)


def cut(found: list[Framework], skipped: list[tuple[str, str]], most: int) -> Found:
    """Those with the load of the best, and no more than `most`."""
    same = [
        one for one in found if (one.connections, one.rate) == (found[0].connections, found[0].rate)
    ]
    other = [(one.name, "it was published under another load") for one in found if one not in same]
    beyond = [(one.name, f"behind the best {most}; raise --most") for one in same[most:]]
    return Found(same[:most], [*skipped, *other, *beyond])


def read_framework(root: Path, name: str, test: str, taken: Collection[str]) -> Framework:
    if not NAME_PATTERN.fullmatch(name) or not IMAGE_PATTERN.fullmatch(name.lower()):
        raise SkippedError("its name cannot name a contender and an image")
    if name in taken:
        raise SkippedError("a design has this name")
    meta = object_in(root, FRAMEWORKS, name, "meta.json")
    if meta.get("enabled") is False:
        raise SkippedError("it is disabled")
    tests = meta.get("tests")
    if not isinstance(tests, list) or test not in tests:
        raise SkippedError(f"it does not take the test {test}")
    if (root / FRAMEWORKS / name / "build.sh").exists():
        raise SkippedError("it is built by a script of its own, build.sh")
    command = started_by(text_in(root, FRAMEWORKS, name, "Dockerfile"))
    result = published(object_in(root, *RESULTS, f"{name}.json"), test)
    connections = amount(result, "connections", MAX_CONNECTIONS, int)
    rate = amount(result, "target_rate", MAX_RATE_PER_S, int) if TESTS[test].is_paced else None
    value = amount(result, TESTS[test].figure, MOST, float)
    title = meta.get("display_name")
    fine = isinstance(title, str) and title.isprintable() and 0 < len(title) <= 100
    return Framework(name, str(title) if fine else name, command, connections, value, rate)


def published(content: dict[str, Any], test: str) -> dict[str, Any]:
    """The result with the most connections."""
    results = content.get("results")
    of_test = {
        int(count): result
        for key, result in (results.items() if isinstance(results, dict) else ())
        for of, _, count in [key.rpartition("-")]
        if of == test and re.fullmatch(r"[0-9]{1,6}", count) and isinstance(result, dict)
    }
    if not of_test:
        raise SkippedError(f"no result of {test} is published")
    return of_test[max(of_test)]


def amount(result: dict[str, Any], key: str, most: float, kind: Callable[[Any], Number]) -> Number:
    value = result.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SkippedError(f"its published {key} is not a number")
    if not 0 < value <= most:  # nor is NaN
        raise SkippedError(f"its published {key} is not from 0 to {most:g}")
    return kind(value)

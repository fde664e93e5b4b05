"""One TOML table being read: every complaint names the key, its value and what it may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from regatta.errors import StudyError
from regatta.study.limits import is_integer


class Table:
    """Knows its place for the messages, and refuses keys that it does not know."""

    def __init__(self, content: dict[str, Any], place: str, known: Sequence[str]) -> None:
        self.content = content
        self.place = place
        for key in content:
            if key not in known:
                raise StudyError(
                    f"unknown key `{self.named(key)}`; allowed here: {', '.join(known)}"
                )

    def named(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key

    def fail(self, key: str, needed: str) -> StudyError:
        return StudyError(f"`{self.named(key)}` is {self.content[key]!r}; it must be {needed}")

    def has(self, key: str) -> bool:
        return key in self.content

    def text(self, key: str, default: str) -> str:
        value = self.content.get(key, default)
        if not isinstance(value, str) or not value or not value.isprintable():
            raise self.fail(key, "a text of printable characters")
        return value

    def integer(self, key: str, default: int, low: int, high: int) -> int:
        value = self.content.get(key, default)
        if not is_integer(value, low, high):
            raise self.fail(key, f"a whole number from {low} to {high}")
        return int(value)

    def seconds(self, key: str, high: float) -> float:
        value = self.content[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= high:
            raise self.fail(key, f"a number of seconds above 0 and up to {high:g}")
        return float(value)

    def number(self, key: str, low: float, high: float) -> float:
        value = self.content[key]
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            raise self.fail(key, f"a number from {low:g} to {high:g}")
        return float(value)

    def numbers(self, key: str, default: object, low: float, high: float) -> list[float]:
        values: list[float] = self.list_of(
            key,
            default,
            lambda entry: (
                not isinstance(entry, bool)
                and isinstance(entry, int | float)
                and low <= entry <= high
            ),
            f"a number from {low:g} to {high:g}",
        )
        return [float(value) for value in values]

    def flag(self, key: str, default: bool) -> bool:
        value = self.content.get(key, default)
        if not isinstance(value, bool):
            raise self.fail(key, "true or false")
        return value

    def choice(self, key: str, default: str, allowed: Sequence[str]) -> str:
        value = self.content.get(key, default)
        if value not in allowed:
            raise self.fail(key, f"one of {', '.join(allowed)}")
        return str(value)

    def list_of(self, key: str, default: object, accept: Callable[[Any], bool], needed: str) -> Any:
        """A list, or one value that stands for a list of one; no value may come twice."""
        value = self.content.get(key, default)
        values = value if isinstance(value, list) else [value]
        if not values:
            raise self.fail(key, f"a list that is not empty; each value: {needed}")
        for entry in values:
            if not accept(entry):
                raise StudyError(f"`{self.named(key)}` holds {entry!r}; it must be {needed}")
        if len(set(values)) != len(values):
            raise self.fail(key, "a list in which nothing comes twice")
        return values

    def choices(self, key: str, default: object, allowed: Sequence[str]) -> list[str]:
        needed = f"one of {', '.join(allowed)}"
        values: list[str] = self.list_of(
            key, default, lambda entry: isinstance(entry, str) and entry in allowed, needed
        )
        return values

    def integers(self, key: str, default: object, low: int, high: int) -> list[int]:
        values: list[int] = self.list_of(
            key,
            default,
            lambda entry: is_integer(entry, low, high),
            f"a whole number from {low} to {high}",
        )
        return values


def subtable(content: dict[str, Any], key: str, known: Sequence[str]) -> Table:
    value = content.get(key, {})
    if not isinstance(value, dict):
        raise StudyError(f"`{key}` must be a table; write [{key}]")
    return Table(value, key, known)

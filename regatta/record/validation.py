"""Validates plain data, for example from JSON."""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")
A_KEY = "[key]"
"""pydantic's mark for an invalid key (rather than its value)."""


def checked(adapter: TypeAdapter[T], plain: object) -> T:
    """The validated value; ValueError, in a few words, for anything else."""
    try:
        return adapter.validate_python(plain)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"`{named(first['loc'])}`: {first['msg'].lower()}") from error


def named(loc: Sequence[str | int]) -> str:
    """`cells[1].rate`."""
    text = ""
    for part in loc:
        if part == A_KEY:
            continue
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            text += f"{'.' if text else ''}{part if part.isprintable() else ascii(part)[1:-1]}"
    return text

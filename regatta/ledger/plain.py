"""Plain data that a program wrote, for example as JSON: read back and checked."""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")
A_KEY = "[key]"
"""How pydantic says that it is the key that is wrong, and not what it holds."""


def checked(adapter: TypeAdapter[T], plain: object) -> T:
    """What a program wrote, for example as JSON; ValueError in a few words if it did not."""
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
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text

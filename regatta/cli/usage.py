"""A mistake in an option or argument, as one line."""

import sys
from typing import Any

NEEDED = {"int": "a whole number", "float": "a number"}


def usage_message(error: Any) -> str:
    """`error`: typer's usage error; the module of its class differs by version."""
    verb = next(iter(sys.argv[1:2]), "")
    message = invalid_number(error) or error.format_message().rstrip(".") or "no command given"
    help_ = (
        f"regatta {verb} --help"
        if verb.isalpha() and "command" not in message
        else "regatta --help"
    )
    return f"{message}; see {help_}"


def invalid_number(error: Any) -> str | None:
    """typer quotes pydantic, which names no value."""
    try:
        (found,) = error.__cause__.errors()
    except (AttributeError, ValueError):
        return None
    kind, _, what = found["type"].partition("_")
    if kind not in NEEDED or not what:
        return None
    names = [*error.param.opts, error.param.name]
    return f"{names[0]} is {found['input']}; it must be {NEEDED[kind]}"

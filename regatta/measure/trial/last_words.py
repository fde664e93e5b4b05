"""Finds the error itself in what a dying program printed: its stack hides it from the last lines.

A runtime prints the error before the stack (Java, Node.js, Go, Rust, .NET, Ruby) or after it
(Python), and often more lines at the end.
"""

import re
from collections.abc import Callable, Sequence

PYTHON_STACK = re.compile(r'Traceback \(most recent call last\):|  File ".*", line \d+')
FRAME = re.compile(r"\s+(at|from) \S")
"""Java, .NET and Node.js; Ruby."""
PANIC = re.compile(r"(panic|fatal error): |\*\* \(")
"""Go; Elixir."""
RUST_PANIC = re.compile(r"thread '.*' (\(\d+\) )?panicked at ")


Found = tuple[int, str] | None
"""The number of the line, and the error."""


def error_line(lines: Sequence[str]) -> str | None:
    """The error of the last stack in these lines, whose indentation is kept; None: no stack."""
    # Rust's frames look like Java's.
    found = rust_panic(lines) or panic(lines)
    stacks = [stack for stack in (after_stack(lines), before_stack(lines)) if stack]
    found = found or max(stacks, default=None)
    return found[1].strip() if found else None


def is_outer(line: str) -> bool:
    return bool(line) and not line[0].isspace()


def last(lines: Sequence[str], matches: Callable[[str], object]) -> int | None:
    return next((n for n in reversed(range(len(lines))) if matches(lines[n])), None)


def after_stack(lines: Sequence[str]) -> Found:
    start = last(lines, PYTHON_STACK.match)
    after = range(len(lines)) if start is None else range(start + 1, len(lines))
    return next(((n, lines[n]) for n in after if start is not None and is_outer(lines[n])), None)


def before_stack(lines: Sequence[str]) -> Found:
    start = last(lines, FRAME.match) or 0
    return next(((n, lines[n]) for n in reversed(range(start)) if is_outer(lines[n])), None)


def panic(lines: Sequence[str]) -> Found:
    number = last(lines, PANIC.match)
    return None if number is None else (number, lines[number])


def rust_panic(lines: Sequence[str]) -> Found:
    """Since Rust 1.73 the message is on the next line."""
    number = last(lines, RUST_PANIC.match)
    if number is None:
        return None
    has_more = lines[number].endswith(":") and number + 1 < len(lines)
    return number, f"{lines[number]} {lines[number + 1]}" if has_more else lines[number]

"""Finds the error itself in what a dying program printed: its stack hides it from the last lines.

A runtime prints the error before the stack (Java, Node.js, Go, Rust, .NET, Ruby) or after it
(Python), and often more lines at the end.
"""

import re
from collections.abc import Sequence

PYTHON_STACK = re.compile(r'Traceback \(most recent call last\):|  File ".*", line \d+')
FRAME = re.compile(r"\s+(at|from) \S")
"""Java, .NET and Node.js; Ruby."""
PANIC = re.compile(r"(panic|fatal error): |\*\* \(")
"""Go; Elixir."""
RUST_PANIC = re.compile(r"thread '.*' (\(\d+\) )?panicked at ")


def error_line(lines: Sequence[str]) -> str | None:
    """The error of the last stack in these lines, whose indentation is kept; None: no stack."""

    def last(pattern: re.Pattern[str]) -> int | None:
        return next((at for at in reversed(range(len(lines))) if pattern.match(lines[at])), None)

    # Rust's frames look like Java's. Since Rust 1.73 the message is on the next line.
    if (at := last(RUST_PANIC)) is not None:
        return " ".join(lines[at : at + 1 + lines[at].endswith(":")]).strip()
    if (at := last(PANIC)) is not None:
        return lines[at].strip()
    outer = [at for at, line in enumerate(lines) if line and not line[0].isspace()]
    stack, frame = last(PYTHON_STACK), last(FRAME)
    after = [at for at in outer if stack is not None and at > stack][:1]
    before = [at for at in outer if frame is not None and at < frame][-1:]
    return lines[max(after + before)].strip() if after or before else None

"""Lists of CPUs as taskset and the kernel write them: `0`, `0,2` or `2-5,7`."""

import re
from collections.abc import Collection, Iterable

from regatta.errors import UsageError
from regatta.record.study.limits import MAX_CPU

NEEDED = "a list of CPUs such as 0 or 0,2 or 2-5"


def cpus_of(text: str) -> tuple[int, ...]:
    """Sorted, without duplicates; ValueError for anything else."""
    numbers: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,5})(?:-(\d{1,5}))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if not first <= last <= MAX_CPU:
            raise ValueError(f"{text!r} is not a list of CPUs")
        numbers.update(range(first, last + 1))
    return tuple(sorted(numbers))


def cpus_option(text: str | None, option: str) -> tuple[int, ...] | None:
    """The value of an option; UsageError if it is not such a list."""
    try:
        return None if text is None else cpus_of(text)
    except ValueError as error:
        raise UsageError(f"{option} is {text!r}; write {NEEDED}") from error


def cpu_list(cpus: Iterable[int]) -> str:
    """`0-2,7`."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and runs[-1][-1] == cpu - 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def cpus_text(cpus: Collection[int]) -> str:
    """`CPU 3`, `CPUs 0-2,7`."""
    return f"{'CPU' if len(cpus) == 1 else 'CPUs'} {cpu_list(cpus)}"

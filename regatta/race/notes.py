"""What a person should know before the first trial."""

from regatta.machine.cgroup import NO_GROUPS
from regatta.machine.perf import Perf
from regatta.machine.placed import Placement
from regatta.study import Study


def notes(study: Study, placement: Placement, found: Perf) -> tuple[str, ...]:
    """What differs from what the study or the user may expect."""
    without = [f"{name} is left out: {reason}" for name, reason in study.left_out.items()]
    clocks = None if placement.server.groups else NO_GROUPS
    found_here = (placement.note, placement.steering.note, clocks, found.note)
    return tuple(note for note in (*without, *found_here) if note)


def warnings(spoilers: dict[str, str]) -> tuple[str, ...]:
    """What on this machine spoils the race, a line each."""
    return tuple(
        f"{name}: {says}; `regatta doctor` says what to do" for name, says in spoilers.items()
    )

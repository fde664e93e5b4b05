"""Places the two sides of a study's race."""

from collections.abc import Callable
from pathlib import Path

from regatta.errors import StudyError
from regatta.ledger.cell import PROCESS
from regatta.machine.placed import CONTAINERS, HOSTS, ContainerWish, HostsWish, Placement, Wish
from regatta.machine.placement import make_placement
from regatta.machine.programs import Programs, find_tool
from regatta.study import Contender, Study


def place_sides(study: Study, programs: Programs) -> Placement:
    cpus = (study.server_cpus, study.client_cpus)
    wish: Wish | None = None
    whole = any(cell.scope == PROCESS for cell in study.cells)
    if whole and study.client_count > 1:
        raise StudyError(
            '`scope = "process"` counts one client from its first instruction; remove '
            "`placement.clients`"
        )
    if study.placement in OF_WINDOWS:
        if whole:
            raise StudyError(
                '`scope = "process"` counts a program from its first instruction, which is for '
                f"netns and loopback, not for {study.placement}; race this study by netns"
            )
        wish = OF_WINDOWS[study.placement](study, programs)
    placement = make_placement(study.placement, *cpus, study.steering, wish)
    placement.client_count = study.client_count
    return placement


def hosts_of(study: Study, _: Programs) -> HostsWish | None:
    """Which hosts the race wants; None if it names none."""
    if study.server is None or not study.client_hosts:
        return None
    return HostsWish(study.server, study.client_hosts, study.address)


def containers_of(study: Study, programs: Programs) -> ContainerWish:
    """What the race wants of its containers."""
    raced = raced_contenders(study)
    ours = [programs.server, programs.client, programs.dial]
    theirs = [program_of(one, study.folder) for one in raced.values() if one.image is None]
    return ContainerWish(
        network=study.network,
        engine=study.engine,
        programs=tuple(path.absolute() for path in (*ours, *theirs) if path is not None),
        images=tuple(dict.fromkeys(one.image for one in raced.values() if one.image is not None)),
        dial=programs.dial and programs.dial.absolute(),
        folder=study.folder if raced else None,
    )


OF_WINDOWS: dict[str, Callable[[Study, Programs], Wish | None]] = {
    CONTAINERS: containers_of,
    HOSTS: hosts_of,
}
"""Where nothing is counted but in windows: what the race wants there."""


def raced_contenders(study: Study) -> dict[str, Contender]:
    """By name."""
    names = sorted({cell.contender for cell in study.cells} & study.contenders.keys())
    return {name: study.contenders[name] for name in names}


def word_of(contender: Contender, folder: Path) -> str:
    """The first of its command: what to run."""
    return contender.words("", 0, (), folder)[0]


def program_of(contender: Contender, folder: Path) -> Path | None:
    """Of one that is installed here; None if it is not."""
    found = find_tool(word_of(contender, folder))
    return None if found is None else Path(found)


def check_programs(study: Study) -> None:
    """A named server that does not exist is a mistake; what is in an image is not looked for, nor
    what is on another host."""
    if study.placement == HOSTS:
        return
    in_images = study.placement == CONTAINERS
    for name, contender in raced_contenders(study).items():
        if (in_images and contender.image) or program_of(contender, study.folder):
            continue
        raise StudyError(
            f"`contenders.{name}.command`: there is no program "
            f"{word_of(contender, study.folder)}; install or build it, or correct the path "
            "({folder} is the study's folder)"
        )

"""Places the two sides of a study's race."""

from regatta.errors import StudyError
from regatta.measure.places.placement import make_placement
from regatta.measure.places.sides import ContainerWish, HostsWish, Placement, Wish
from regatta.measure.programs import Programs, find_tool
from regatta.record.cell import PROCESS
from regatta.record.study import Contender, Study
from regatta.record.study.limits import AUTO, CONTAINERS, HOSTS, LOOPBACK


def place_sides(study: Study, programs: Programs) -> Placement:
    cpus = (study.server_cpus, study.client_cpus)
    whole = any(cell.scope == PROCESS for cell in study.cells)
    if whole and study.client_count > 1:
        raise StudyError(
            '`scope = "process"` counts one client from its first instruction; remove '
            "`placement.clients`"
        )
    if whole and study.placement in {CONTAINERS, HOSTS}:
        raise StudyError(
            '`scope = "process"` counts a program from its first instruction, which is not '
            f"possible with {study.placement}; race this study with netns or loopback"
        )
    wish: Wish | None = containers_of(study, programs) if study.placement == CONTAINERS else None
    if study.placement == HOSTS:
        wish = hosts_of(study)
    kind = study.placement
    running = [name for name, of in raced_contenders(study).items() if of.address is not None]
    if running and kind not in {AUTO, LOOPBACK}:
        raise StudyError(
            f"{running[0]} runs already, in this host's network, where {kind} does not lead; race "
            "it with --placement loopback"
        )
    if running and whole:
        raise StudyError(
            '`scope = "process"` counts a program from its first instruction, but '
            f"{running[0]} runs already; remove one of them"
        )
    placement = make_placement(LOOPBACK if running else kind, *cpus, study.steering, wish)
    placement.client_count = study.client_count
    return placement


def hosts_of(study: Study) -> HostsWish | None:
    """The hosts that the study names; None if it names none."""
    if study.server is None or not study.client_hosts:
        return None
    return HostsWish(study.server, study.client_hosts, study.address, study.cluster)


def containers_of(study: Study, programs: Programs) -> ContainerWish:
    raced = raced_contenders(study)
    images = (contender.image for contender in raced.values() if contender.image is not None)
    return ContainerWish(
        network=study.network,
        engine=study.engine,
        images=tuple(dict.fromkeys(images)),
        dial=programs.dial and programs.dial.absolute(),
        folder=study.folder if raced else None,
    )


def raced_contenders(study: Study) -> dict[str, Contender]:
    """The study's own contenders that are raced, by name."""
    names = sorted({cell.contender for cell in study.cells} & study.contenders.keys())
    return {name: study.contenders[name] for name in names}


def check_programs(study: Study) -> None:
    """StudyError if a contender's program is missing. Images and other hosts are not checked."""
    if study.placement == HOSTS:
        return
    in_images = study.placement == CONTAINERS
    for name, contender in raced_contenders(study).items():
        if contender.address is not None:
            continue
        if not in_images and not contender.command:
            raise StudyError(
                f"`contenders.{name}` has no `command`, only an image; race it with "
                "--placement containers"
            )
        if in_images and contender.image:
            continue  # it may run the image's own command
        program = contender.words("", 0, (), study.folder)[0]
        if not find_tool(program):
            raise StudyError(
                f"`contenders.{name}.command`: the program {program} was not found; install or "
                "build it, or correct the path ({folder} is the study's folder)"
            )

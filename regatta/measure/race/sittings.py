"""The sittings of a race: the same study several times, with new random conditions.

Within a sitting the networks, the order of functions in the server's binary and the size of its
environment are fixed. A contender that they favour is favoured in all blocks, which no number of
blocks shows. So each sitting draws them anew.
"""

import random
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from time import sleep, time

from regatta.errors import RegattaError
from regatta.measure import environment
from regatta.measure.places.sides import Placement
from regatta.measure.race.events import Pausing, RaceNote, SittingStarted, Tell
from regatta.measure.race.place_sides import place_sides
from regatta.measure.race.relink import relink_all
from regatta.measure.race.resume import keep_accounts
from regatta.measure.race.run_plan import Enough, Runner
from regatta.measure.trial.canary import canary_on
from regatta.measure.trial.setup import TrialSetup
from regatta.record.records import Sitting
from regatta.record.study import Study
from regatta.record.write import Ledger

MOST_BYTES = 4096
"""At most a page of padding, which covers every offset of the stack."""
MOST_ORDERS = 2**31
SERVERS = "servers"
"""The folder of a race's relinked servers."""


def draw_sitting(seed: int, number: int, sittings: int) -> tuple[int, int | None]:
    """The padding of a sitting's environment in bytes, and the seed of its order of functions; a
    race of a single sitting has none."""
    if sittings == 1:
        return 0, None
    chance = random.Random(f"{seed} sitting {number}")
    return chance.randint(0, MOST_BYTES), chance.randrange(MOST_ORDERS)


def run_sittings(
    ledger: Ledger, setup: TrialSetup, study: Study, tell: Tell, enough: Enough
) -> None:
    """Runs the missing trials; the first sitting uses the existing placement."""
    left = sorted({planned.sitting for planned in ledger.left()})
    draws = {number: draw_sitting(setup.seed, number, study.sittings) for number in left}
    orders = {number: order for number, (_, order) in draws.items() if order is not None}
    servers = relink_servers(ledger, setup, study, orders, tell)
    with ExitStack() as stack:
        for number in left:
            if number != left[0]:
                setup.placement.close()
                if study.pause_s:  # a race that is stopped and resumed skips it
                    tell(Pausing(number, study.pause_s))
                    sleep(study.pause_s)
                placement = stack.enter_context(remake_placement(setup, study))
                perf = keep_accounts(ledger, placement, setup.perf)
                setup = replace(setup, placement=placement, perf=perf)
            server, (padding, _) = setup.placement.server, draws[number]
            link_order = orders[number] if number in servers else None
            where = server.ask(environment.identity)
            sitting = Sitting(number, time(), *where, link_order, padding)
            ledger.record_sitting(sitting)  # one that is resumed gets a second row
            if study.sittings > 1:
                tell(SittingStarted(number, study.sittings, link_order, padding))
            ours = servers.get(number, setup.programs.server)
            with canary_on(server, setup.programs.canary) as canary:
                here = replace(
                    setup,
                    programs=replace(setup.programs, server=ours),
                    environment_bytes=padding,
                    canary=canary,
                )
                Runner(ledger, here, study, tell).run_sitting(number, enough)


def relink_servers(
    ledger: Ledger, setup: TrialSetup, study: Study, orders: Mapping[int, int], tell: Tell
) -> dict[int, Path]:
    """Links our server for each sitting, all before the first, so that later builds change none.

    A sitting without an entry races the server as built.
    """
    if study.sittings == 1:
        return {}
    if note := unchanged_note(study):
        tell(RaceNote(note))
    if all(cell.contender in study.contenders for cell in study.cells):
        return {}
    if len(setup.placement.hosts) > 1:
        tell(RaceNote("our server is not relinked for each sitting, as it is on another host"))
        return {}
    folder = ledger.path.parent / SERVERS
    if not folder.is_dir() and ledger.was_begun():
        return {}  # the race was started with the server as built
    try:
        return relink_all(setup.programs.server, orders, folder)
    except RegattaError as error:
        tell(
            RaceNote(
                f"our server cannot be relinked, so every sitting races the same binary: {error}"
            )
        )
        return {}


def unchanged_note(study: Study) -> str:
    """A note about contenders whose binary is the same in all sittings; empty if none."""
    names = sorted({cell.contender for cell in study.cells} & study.contenders.keys())
    if not names:
        return ""
    return (
        f"the same binary in every sitting: {', '.join(names)}; only our own server can be relinked"
    )


def remake_placement(setup: TrialSetup, study: Study) -> Placement:
    """The same placement with fresh networks."""
    before = setup.placement
    placed = study.but(
        placement=before.kind,
        server_cpus=before.server.cpus,
        client_cpus=before.client.cpus,
        steering=before.steering.kind,
    )
    return place_sides(placed, setup.programs)

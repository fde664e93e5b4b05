"""One measured load, from the moment when both sides' counters are on until the client says that
it is done. The server's accounts are of all that the load caused: from rest to rest.
"""

import time
from collections.abc import Sequence
from contextlib import suppress

from regatta.errors import HostLostError
from regatta.ledger.cell import Cell
from regatta.ledger.result import CLIENT
from regatta.machine import disturbance
from regatta.machine.disturbance import Others
from regatta.trial.clients import Clients
from regatta.trial.load import client_command, load_options, load_timeout_s
from regatta.trial.merge import at_once
from regatta.trial.setup import TrialSetup
from regatta.trial.side import Side
from regatta.trial.slices import Window
from regatta.trial.summary import read_samples, samples_of, sum_up


def measure(  # noqa: PLR0913, PLR0917  (what a load is made of)
    setup: TrialSetup, cell: Cell, target: str, server: Side, wanted: Sequence[str], seed: int
) -> Window:
    """Runs the load of the cell against a server that is up.

    A window is opened at the clients and then at the server; only then they go, and what they have
    done is told before the server's half is closed. So with one client no clocks have to agree, and
    what is said between hosts lengthens no load. Who is not on this host hears nothing in between.
    """
    place = setup.placement
    with Clients(setup, cell) as clients:
        clients.start(target, wanted, seed)
        clients.open()
        try:
            server.open(place.watched_by(place.server), rests=True)
            length_ns = clients.run()
            served = server.close()
        except BaseException:
            # Before the clients end: each gives back the CPUs that the other had left it.
            with suppress(HostLostError):
                server.abandon()
            raise
        halves = [served, *clients.close()]
        asked = clients.sum_up()
        return Window(
            length_ns=length_ns,
            accounts=served.accounts,
            client=asked.summary,
            client_counters=asked.counters,
            samples=asked.samples,
            others=disturbance.at_once([half.meanwhile.others for half in halves]),
            rest=served.rest,
            cpus=at_once([half.meanwhile.cpus for half in halves]),
        )


def measure_whole(  # noqa: PLR0913, PLR0917  (the same)
    setup: TrialSetup, cell: Cell, target: str, server: Side, wanted: Sequence[str], seed: int
) -> Window:
    """Runs the burst against a server that has just been started, and lets it idle after it.

    The client is counted as a whole too. The server's accounts are of its life up to now.
    """
    load = [*load_options(setup, cell, seed), "--samples", samples_of(CLIENT)]
    command = client_command(setup, cell, target, load)
    with setup.side(
        setup.placement.client, CLIENT, whole=True, counts_taskset=cell.counts_taskset
    ) as client:
        start_ns = time.monotonic_ns()
        client.start(command, setup.perf, wanted)
        summary = sum_up(cell, client, load_timeout_s(cell))
        # This wait is measured: an idling server is part of such a count.
        time.sleep(cell.linger_s)
        return Window(
            length_ns=time.monotonic_ns() - start_ns,
            accounts=server.life(),
            client=summary,
            client_counters=client.counters(),
            samples=read_samples(client, CLIENT),
            others=Others(),  # they are asked for over all of the process's life
            client_printed=client.printed(),
        )

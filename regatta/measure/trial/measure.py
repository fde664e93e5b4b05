"""One measured load, with the counters of both sides on until the client reports its end.

The server's accounts run from idle to idle, so they include all the work that the load caused.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from regatta.errors import HostLostError
from regatta.measure.accounts import disturbance, process_tree
from regatta.measure.accounts.disturbance import Others
from regatta.measure.trial.clients import Clients, ended, samples_of
from regatta.measure.trial.load import client_command, give_requests, load_options, load_timeout_s
from regatta.measure.trial.merge import Window, began_apart, of_sides
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.side import Side
from regatta.record.cell import Cell
from regatta.record.counters import KERNEL_MEMORY, MEMORY, Counters, keyed
from regatta.record.records import CLIENT, KERNEL, SERVER


def measure(  # noqa: PLR0913, PLR0917  (all that describes a load)
    setup: TrialSetup, cell: Cell, target: str, server: Side, wanted: Sequence[str], seed: int
) -> Window:
    """Runs the load of the cell against a server that is up.

    The window opens at the clients and then at the server; only then the clients start, and they
    report their end before the server's half closes. So a single client needs no synchronised
    clock, messages between hosts do not lengthen the load: nothing waits for one within the window.
    """
    place = setup.placement
    with Clients(setup, cell) as clients:
        clients.start(target, wanted, seed)
        clients.open()
        try:
            server.open(place.watched_by(place.server), rests=True)
            length_ns = clients.run(server)
            served = server.close()
            # The clients still hold their idle connections open.
            memory = memory_of(server) if setup.whole_cost else {}
        except BaseException:
            # Before the clients end, so that CPU affinity is restored in reverse order.
            with suppress(HostLostError):
                server.abandon()
            raise
        lab = Window(length_ns=length_ns, counters=memory)
        return of_sides([served, *clients.close(), clients.sum_up(), lab])


def memory_of(server: Side) -> Counters:
    found = server.memory(MEMORY), server.kernel_memory(KERNEL_MEMORY)
    return keyed(SERVER, KERNEL, found)


def others_in(setup: TrialSetup, window: Window) -> Others:
    """CPU time that others took, also programs that have ended."""
    used_ns = window.cpu_ns(SERVER, CLIENT)
    return disturbance.with_ended(window.others, used_ns, setup.placement.cpu_count)


def disturbed_by(setup: TrialSetup, window: Window, others: Others | None = None) -> str | None:
    """What disturbed it, in words; None if nothing did."""
    found = (
        disturbance.too_much(others or others_in(setup, window), setup.disturbance_limit_percent),
        began_apart(window.client),
    )
    return " and ".join(filter(None, found)) or None


def measure_whole(  # noqa: PLR0913, PLR0917  (the same)
    setup: TrialSetup, cell: Cell, target: str, server: Side, wanted: Sequence[str], seed: int
) -> Window:
    """Runs the burst against a server that was just started, and then lets it idle.

    The client is also counted from exec to exit. The server's accounts cover its life so far; what
    others took is read over that life instead.
    """
    load = [*load_options(setup, cell, seed), "--samples", samples_of(CLIENT)]
    command = client_command(setup, cell, target, load)
    with setup.side(
        setup.placement.client, CLIENT, whole=True, counts_taskset=cell.counts_taskset
    ) as client:
        give_requests(setup, cell, client)
        start_ns = time.monotonic_ns()
        client.start(command, setup.perf, wanted)
        _, found = ended(cell, {CLIENT: client}, load_timeout_s(cell), lambda told: told[0])
        # This sleep is measured on purpose: such a count includes the idle server.
        time.sleep(cell.linger_s)
        life = keyed(SERVER, KERNEL, process_tree.life_counters(server.accounts()))
        text = client.printed()
        return replace(
            found,
            length_ns=time.monotonic_ns() - start_ns,
            counters=life | found.counters,
            printed={CLIENT: text} if text else {},
        )

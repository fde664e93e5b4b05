"""One measured load, with the counters of both sides on until the client reports its end.

The server's accounts run from idle to idle, so they include all the work that the load caused.
"""

import time
from collections.abc import Sequence
from contextlib import suppress

from regatta.errors import HostLostError
from regatta.measure.accounts import disturbance, process_tree
from regatta.measure.accounts.disturbance import Others
from regatta.measure.trial.clients import Clients, read_samples, samples_of, sum_up
from regatta.measure.trial.load import client_command, give_requests, load_options, load_timeout_s
from regatta.measure.trial.merge import Window, at_once, began_apart
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.side import Side
from regatta.record.cell import Cell
from regatta.record.counters import CPU_TIME, KERNEL_MEMORY, MEMORY, Counter
from regatta.record.records import CLIENT


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
            memory = memory_of(server) if setup.whole_cost else []
        except BaseException:
            # Before the clients end, so that CPU affinity is restored in reverse order.
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
            memory=memory,
            cpus=at_once([half.meanwhile.cpus for half in halves]),
        )


def disturbed_by(setup: TrialSetup, window: Window) -> str | None:
    """What disturbed a single window, in words; None if nothing did."""
    accounts = [*window.accounts, *process_tree.client_counters(window.client.get("usage"))]
    used_ns = sum(one.value or 0.0 for one in accounts if one.event == CPU_TIME)
    others = disturbance.with_ended(window.others, used_ns, setup.placement.cpu_count)
    others_took = disturbance.too_much(others, setup.disturbance_limit_percent)
    return others_took or began_apart(window.client)


def memory_of(server: Side) -> list[Counter]:
    return [server.memory(MEMORY), server.kernel_memory(KERNEL_MEMORY)]


def measure_whole(  # noqa: PLR0913, PLR0917  (the same)
    setup: TrialSetup, cell: Cell, target: str, server: Side, wanted: Sequence[str], seed: int
) -> Window:
    """Runs the burst against a server that was just started, and then lets it idle.

    The client is also counted from exec to exit. The server's accounts cover its life so far.
    """
    load = [*load_options(setup, cell, seed), "--samples", samples_of(CLIENT)]
    command = client_command(setup, cell, target, load)
    with setup.side(
        setup.placement.client, CLIENT, whole=True, counts_taskset=cell.counts_taskset
    ) as client:
        give_requests(setup, cell, client)
        start_ns = time.monotonic_ns()
        client.start(command, setup.perf, wanted)
        summary = sum_up(cell, client, load_timeout_s(cell))
        # This sleep is measured on purpose: such a count includes the idle server.
        time.sleep(cell.linger_s)
        return Window(
            length_ns=time.monotonic_ns() - start_ns,
            accounts=server.life(),
            client=summary,
            client_counters=client.counters(),
            samples=read_samples(client, CLIENT),
            others=Others(),  # read over the process's whole life instead
            client_printed=client.printed(),
        )

"""`regatta doctor`: what on this machine will spoil results, and the command that fixes it."""

import os
from typing import Annotated

import typer

from regatta.cli.output import Output, print_json
from regatta.doctor import EXAMINE_S, SERIOUS, Finding, Machine, RaceSetup, examine, watch
from regatta.doctor.examine import measure as measure_findings
from regatta.doctor.finding import as_json as plain
from regatta.doctor.probes.bench import Bench
from regatta.doctor.show import show
from regatta.errors import CpuError, PlacementError, UsageError
from regatta.machine.containers.engine import find_engine
from regatta.machine.placed import Placement
from regatta.machine.placement import make_placement
from regatta.study import PLACEMENTS, cpus_option


def doctor(
    measure: Annotated[
        bool,
        typer.Option(
            "--measure", help="Also measure how much each finding matters: half a minute of probes."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    placement: Annotated[
        str, typer.Option(help="Placement to assume: auto, netns, loopback or containers.")
    ] = "auto",
    server_cpus: Annotated[
        str | None, typer.Option(help="CPUs of the server, if not the default: 0 or 2-5.")
    ] = None,
    client_cpus: Annotated[str | None, typer.Option(help="CPUs of the client.")] = None,
) -> None:
    """Find what on this machine spoils races, how much, and the command that fixes it.

    It changes nothing: the commands are for you to run, each with the one that undoes it. Exit
    status: 1 if anything is serious, else 0.

    [bold]Examples[/]

      regatta doctor                             look, in a second
      regatta doctor --measure                   and measure how much it matters
      regatta doctor --server-cpus 2 --client-cpus 3
      regatta doctor --json | jq '.findings[] | select(.level == "serious") | .fix'
    """
    setup = find_setup(placement, server_cpus, client_cpus)
    machine = Machine()
    findings = examine(machine, setup, watch(machine, EXAMINE_S))
    if measure:
        findings = with_probes(findings, machine, setup)
    if as_json:
        document = plain(setup, findings, measure)
        print_json(document)
    else:
        console = Output()
        console.print(f"A race here would run: {setup.text()}.\n", markup=False, highlight=False)
        show(console, findings, measure)
    if any(finding.level == SERIOUS for finding in findings):
        raise typer.Exit(1)


def with_probes(findings: list[Finding], machine: Machine, setup: RaceSetup) -> list[Finding]:
    """Measures, and says on the standard error what it is at."""
    console = Output(stderr=True)
    with console.status("measuring") as status:

        def say(what: str) -> None:
            status.update(f"measuring: {what}")
            if not console.is_terminal:
                console.print(f"measuring: {what}", markup=False, highlight=False)

        return measure_findings(findings, Bench(machine, setup, say))


def find_setup(kind: str, server_cpus: str | None, client_cpus: str | None) -> RaceSetup:
    """Where `regatta race` with these options would run: it makes the place, and gives it back."""
    if kind not in PLACEMENTS:
        raise UsageError(f"--placement is {kind}; it must be one of {', '.join(PLACEMENTS)}")
    server = cpus_option(server_cpus, "--server-cpus")
    client = cpus_option(client_cpus, "--client-cpus")
    try:
        with make_placement(kind, server, client) as placement:
            return setup_in(placement)
    except CpuError:
        if server is not None or client is not None:
            raise
        # One CPU alone: a race refuses it, the doctor says why.
        allowed = tuple(sorted(os.sched_getaffinity(0)))
        with make_placement(kind, allowed, allowed) as placement:
            return setup_in(placement)


def setup_in(placement: Placement) -> RaceSetup:
    engine, refused = None, None
    try:
        engine = find_engine().text
    except PlacementError as error:
        refused = str(error)
    return RaceSetup(
        placement.server.cpus,
        placement.client.cpus,
        placement.kind,
        control_groups=placement.server.groups is not None,
        steering=placement.steering,
        network=placement.network,
        engine=engine,
        engine_refused=refused,
    )

"""`regatta doctor`: find what spoils races on this machine, or on the hosts of a study."""

import os
from dataclasses import asdict

import typer

from regatta.checks.doctor.activity import watch
from regatta.checks.doctor.bench import Bench
from regatta.checks.doctor.examine import EXAMINE_S, examine
from regatta.checks.doctor.examine import measure as measure_findings
from regatta.checks.doctor.finding import SERIOUS, Finding, RaceSetup, as_plain, show
from regatta.checks.doctor.hosts import examine_hosts
from regatta.checks.doctor.machine import Machine
from regatta.errors import CpuError, UsageError
from regatta.measure.places.placement import make_placement
from regatta.measure.programs import discover
from regatta.measure.race.place_sides import hosts_of
from regatta.record.study import cpus_option, find_study, load_study
from regatta.record.study.limits import PLACEMENTS
from regatta.verbs.output import CLIENT_CPUS, SERVER_CPUS, Output, options, print_json, say


@options(
    study=typer.Argument(
        help="A study whose placement is hosts: check them and the path between them.",
        show_default="this machine",
    ),
    measure="Also measure how much each finding matters, in half a minute.",
    json="Print the findings as JSON.",
    placement="Placement of the race: auto, netns, loopback or containers.",
    server_cpus=SERVER_CPUS,
    client_cpus=CLIENT_CPUS,
)
def doctor(  # noqa: PLR0913, PLR0917  (one parameter an option)
    study: str | None = None,
    measure: bool = False,
    json: bool = False,
    placement: str = "auto",
    server_cpus: str | None = None,
    client_cpus: str | None = None,
) -> None:
    """Find what spoils races on this machine, or on the hosts of a study.

    It changes nothing. It prints the commands that fix each problem and the ones that undo them. On
    each host of a study it starts what a race starts there, and stops it again.

    Exit status: 1 if a finding is serious, else 0.

    [bold]Examples[/]

      regatta doctor               check the machine, in a second
      regatta doctor --measure     also measure how much each finding matters
      regatta doctor --server-cpus 2 --client-cpus 3
      regatta doctor study.toml    the hosts of this study (docs/hosts.md)
      regatta doctor --json | jq '.findings[] | select(.level != "fine")'
    """
    if study is not None:
        if measure or server_cpus or client_cpus or placement != "auto":
            raise UsageError("with a study, only --json may be given")
        check_hosts(study, json)
        return
    setup = find_setup(placement, server_cpus, client_cpus)
    machine = Machine()
    findings = examine(machine, setup, watch(machine, EXAMINE_S))
    if measure:
        findings = with_probes(findings, machine, setup)
    if json:
        print_json({"situation": asdict(setup), "measured": measure, **as_plain(findings)})
    else:
        console = Output()
        say(console, f"A race here would run: {setup.text()}.\n")
        show(console, findings, measure)
    exit_if_serious(findings)


def check_hosts(study: str, as_json: bool) -> None:
    programs = discover()
    wish = hosts_of(load_study(find_study(study), programs.designs))
    if wish is None:
        raise UsageError(f'{study} names no hosts; add [placement] kind = "hosts" (docs/hosts.md)')
    findings = examine_hosts(wish)
    if as_json:
        print_json({"hosts": asdict(wish), **as_plain(findings)})
    else:
        show(Output(), findings, measured=None)
    exit_if_serious(findings)


def exit_if_serious(findings: list[Finding]) -> None:
    if any(finding.level == SERIOUS for finding in findings):
        raise typer.Exit(1)


def with_probes(findings: list[Finding], machine: Machine, setup: RaceSetup) -> list[Finding]:
    """Measures, with progress on stderr."""
    console = Output(stderr=True)
    with console.status("measuring") as status:

        def progress(what: str) -> None:
            status.update(f"measuring: {what}")
            if not console.is_terminal:
                say(console, f"measuring: {what}")

        return measure_findings(findings, Bench(machine, setup, progress))


def find_setup(kind: str, server_cpus: str | None, client_cpus: str | None) -> RaceSetup:
    """Where `regatta race` with these options would run. Creates the placement to find out."""
    if kind not in PLACEMENTS:
        raise UsageError(f"--placement is {kind}; it must be one of {', '.join(PLACEMENTS)}")
    server = cpus_option(server_cpus, "--server-cpus")
    client = cpus_option(client_cpus, "--client-cpus")
    try:
        with make_placement(kind, server, client) as placement:
            return RaceSetup.of(placement)
    except CpuError:
        if server is not None or client is not None:
            raise
        # A race refuses a machine with one CPU; the doctor explains why.
        allowed = tuple(sorted(os.sched_getaffinity(0)))
        with make_placement(kind, allowed, allowed) as placement:
            return RaceSetup.of(placement)

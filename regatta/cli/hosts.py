"""`regatta hosts`: check the hosts that a study races on."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from regatta.cli.output import Output, print_json, say
from regatta.doctor.finding import FINE, SERIOUS, by_level
from regatta.doctor.hosts import examine_hosts
from regatta.doctor.show import STYLES, print_remedy, print_row, verdict
from regatta.errors import UsageError
from regatta.machine.programs import discover
from regatta.race.place_sides import hosts_of
from regatta.study import find_study, load_study


def hosts(context: typer.Context) -> None:
    """Check the hosts that a study races on, and the path between them.

    These are studies with the placement hosts (docs/hosts.md).

    [bold]Examples[/]

      regatta hosts check study.toml
    """
    if context.invoked_subcommand is None:
        raise UsageError("a command is missing; write: regatta hosts check STUDY")


def check(
    study: Annotated[str, typer.Argument(help="A study whose placement is hosts.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check whether each host can take part in a race, and say what to do if not.

    Starts on each host what a race starts there, and stops it again.

    Exit status: 1 if a finding is serious, else 0.

    [bold]Examples[/]

      regatta hosts check study.toml
      regatta hosts check study.toml --json | jq '.findings[].says'
    """
    programs = discover()
    wish = hosts_of(load_study(find_study(study), programs.designs), programs)
    if wish is None:
        raise UsageError(f'{study} names no hosts; add [placement] kind = "hosts" (docs/hosts.md)')
    findings = examine_hosts(wish)
    serious = sum(finding.level == SERIOUS for finding in findings)
    if as_json:
        print_json(
            {
                "hosts": asdict(wish),
                "serious": serious,
                "findings": [asdict(finding) for finding in findings],
            }
        )
    else:
        console = Output()
        for finding in by_level(findings):
            head = Text.assemble((f"{finding.name}: ", "bold"), finding.says)
            print_row(console, Text(finding.level, STYLES[finding.level]), head)
            if finding.level != FINE:
                print_remedy(console, finding)
        say(console, verdict(findings))
    if serious:
        raise typer.Exit(1)


SUBCOMMANDS = {"check": check}

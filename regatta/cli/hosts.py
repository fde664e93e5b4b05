"""`regatta hosts`: the hosts that a study races on."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from regatta.cli.output import Output, print_json
from regatta.doctor.finding import FINE, SERIOUS, by_level
from regatta.doctor.hosts import examine_hosts
from regatta.doctor.show import STYLES, cure, row, verdict
from regatta.errors import UsageError
from regatta.machine.programs import discover
from regatta.race.place import hosts_of
from regatta.study import find_study, load_study


def hosts(context: typer.Context) -> None:
    """Look at the hosts that a study races on, and at the path between them.

    [bold]Examples[/]

      regatta hosts check study.toml
    """
    if context.invoked_subcommand is None:
        raise UsageError("what of the hosts? regatta hosts check STUDY")


def check(
    study: Annotated[str, typer.Argument(help="A study whose placement is hosts.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Say of each host whether it can be raced on, one line a finding, with what to do.

    It starts on each host what a race starts there, and ends it. Exit status: 1 if anything is
    serious, else 0.

    [bold]Examples[/]

      regatta hosts check study.toml
      regatta hosts check study.toml --json | jq '.findings[] | select(.level != "fine")'
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
            row(console, Text(finding.level, STYLES[finding.level]), head)
            if finding.level != FINE:
                cure(console, finding)
        console.print(verdict(findings), markup=False, highlight=False)
    if serious:
        raise typer.Exit(1)


PARTS = {"check": check}
"""Words that may follow the verb, each with what it does."""

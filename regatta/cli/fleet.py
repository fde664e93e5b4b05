"""`regatta fleet`: one study on many machines, and what holds on all of them."""

import time
from dataclasses import asdict
from pathlib import Path
from secrets import token_hex
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from regatta.cli.output import Output, print_json
from regatta.errors import InterruptedRaceError, RegattaError, UsageError
from regatta.fleet.files import PAGE, sentence, write_fleet
from regatta.fleet.fleet import Came, Plan, read_plan, run_fleet
from regatta.fleet.standings import Standings, outcome_words, standings_of
from regatta.fleet.tables import fleet_tables, took
from regatta.fleet.there import Order
from regatta.machine.programs import called_with, discover, shown
from regatta.race.folder import RACES
from regatta.report.text.numbers import plural
from regatta.report.text.plain import plain
from regatta.study import find_study, load_study
from regatta.study.hosts import NEEDED, host_name


def fleet(  # noqa: PLR0913, PLR0917  (each parameter is an option that a person may type)
    study: Annotated[
        str | None,
        typer.Argument(help="A study, as of `regatta race`.", show_default="quick"),
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option(help="A machine: ssh://USER@HOST; may be repeated.")
    ] = None,
    hosts: Annotated[Path | None, typer.Option(help="A file with one such machine a line.")] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="A Dask scheduler (tcp://…, tls://…): one race on each of its machines."),
    ] = None,
    resumes: Annotated[
        bool, typer.Option("--resume", help="Continue the fleet in the folder named as STUDY.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look on each, in few blocks.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for all results.", show_default="races/NAME-TIME"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results as JSON, progress on stderr.")
    ] = False,
) -> None:
    """Race a study on many machines, each by itself, and say what holds on all of them.

    Every machine has Regatta built, as for races over hosts, and races both sides itself: it is
    the same race as by hand there. A machine that fails stops no other; --resume continues with
    those that have no result. Exit status: 1 if any has none, else 0.

    [bold]Examples[/]

      regatta fleet quick --host ssh://root@a --host ssh://root@b
      regatta fleet mine.toml --hosts machines.txt --quick
      regatta fleet quick --cluster tls://scheduler:8786
      regatta fleet --resume races/quick-fleet-20260101-120000
      regatta fleet quick --hosts machines.txt --json > fleet.json
    """
    console = Output(stderr=as_json)
    if resumes:
        if study is None or host or hosts or cluster or quick or out:
            raise UsageError("--resume needs the folder of a fleet, and takes no other option")
        folder, plan = Path(study), read_plan(Path(study))
    else:
        plan = plan_of(study or "quick", named(host or [], hosts), cluster, quick)
        folder = out or RACES / plan.order.name
        plan.write(folder)
    came = raced(plan, folder, console)
    results = {one.name: one.result for one in came if one.result is not None}
    study_title = next((result["title"] for result in results.values()), plan.order.name)
    title = f"{study_title}, on {plural(len(came), 'machine')}"
    standings = standings_of(results)
    write_fleet(folder, title, standings, came)
    if as_json:
        print_json({"machines": [asdict(one) for one in came], **as_dict(standings, len(results))})
    else:
        show(standings, came, console)
        line(console, f"report: {shown(folder / PAGE)}")
    if failed := [one.name for one in came if one.result is None]:
        raise RegattaError(
            f"{plural(len(failed), 'machine')} of {len(came)} failed ({', '.join(failed[:5])}); "
            f"continue with {called_with('fleet', '--resume', shown(folder))}"
        )


def named(urls: list[str], listed: Path | None) -> list[str]:
    """All machines, in their order."""
    if listed is not None:
        try:
            lines = listed.read_text().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {listed}: {error}") from error
        urls = [*urls, *(text for one in lines if (text := one.partition("#")[0].strip()))]
    for url in urls:
        try:
            host_name(url)
        except ValueError as error:
            raise UsageError(f"{url} is no machine; write {NEEDED}") from error
    return urls


def plan_of(study: str, urls: list[str], cluster: str | None, quick: bool) -> Plan:
    if bool(urls) == (cluster is not None):
        raise UsageError("name the machines: --host or --hosts, or --cluster")
    path = find_study(study)
    name = load_study(path, discover().designs).name
    order = Order(
        name=f"{name}-fleet-{time.strftime('%Y%m%d-%H%M%S')}-{token_hex(2)}",
        study=path.read_text(),
        options=("--quick",) if quick else (),
    )
    return Plan(order, urls, cluster)


def raced(plan: Plan, folder: Path, console: Output) -> list[Came]:
    done = 0

    def tell(one: Came) -> None:
        nonlocal done
        done += 1
        if one.result is None:
            line(console, f"{done} {one.name}: failed: {one.reason}")
            return
        first = next((group["overall"]["sentence"] for group in one.result["groups"]), "")
        took_s = took(one.result)
        line(console, f"{done} {one.name}: raced in {took_s or 0:.0f} s. {first}")

    try:
        return run_fleet(plan, folder, tell)
    except KeyboardInterrupt as error:
        raise InterruptedRaceError(
            "interrupted; machines that were finished are kept, the others go on where they were. "
            f"Continue with: {called_with('fleet', '--resume', shown(folder))}"
        ) from error


def line(console: Output, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def show(standings: Standings, came: list[Came], console: Output) -> None:
    for one in fleet_tables(standings, came):
        table = Table(title=Text(one.title, style="bold"), title_justify="left", box=None)
        for name in one.header:
            table.add_column(name, overflow="fold")
        for row in one.rows:
            table.add_row(*(plain(text, console) for text in row))
        console.print()
        console.print(table)
    console.print()
    console.print(plain(sentence(standings, came), console, "bold"))


def as_dict(standings: Standings, machines: int) -> dict[str, object]:
    plain_form = asdict(standings)
    for key, rows in (("verdicts", standings.verdicts), ("claims", standings.claims)):
        for row, one in zip(rows, plain_form[key], strict=True):
            one["says"] = outcome_words(row, machines)
    return plain_form

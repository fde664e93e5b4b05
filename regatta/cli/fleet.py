"""`regatta fleet`: race a study on many machines and compare their verdicts."""

import time
from dataclasses import asdict
from pathlib import Path
from secrets import token_hex
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from regatta.cli.output import Output, print_json, say
from regatta.errors import InterruptedRaceError, RegattaError, UsageError
from regatta.fleet.files import PAGE, sentence, write_fleet
from regatta.fleet.fleet import MachineResult, Plan, read_plan, run_fleet
from regatta.fleet.remote_race import RaceOrder
from regatta.fleet.standings import Standings, outcome_words, standings_of, summary_of
from regatta.fleet.tables import fleet_tables
from regatta.machine.programs import called_with, discover, shown
from regatta.race.folder import RACES
from regatta.report.text.fitted import print_table
from regatta.report.text.numbers import plural
from regatta.report.text.terminal import plain
from regatta.study import find_study, load_study
from regatta.study.cluster import cluster_risk
from regatta.study.hosts import NEEDED, host_name
from regatta.study.limits import HOSTS


def fleet(  # noqa: PLR0913, PLR0917  (one parameter an option)
    study: Annotated[
        str | None,
        typer.Argument(help="A study, as for `regatta race`.", show_default="quick"),
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option(help="A machine, ssh://USER@HOST; repeatable.")
    ] = None,
    hosts: Annotated[Path | None, typer.Option(help="A file with one machine a line.")] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="A Dask scheduler (tcp://…, tls://…): race on each of its machines."),
    ] = None,
    resumes: Annotated[
        bool, typer.Option("--resume", help="Continue the fleet whose folder is STUDY.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A first look, in few blocks.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for all results.", show_default="races/NAME-TIME"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results as JSON, progress on stderr.")
    ] = False,
) -> None:
    """Race a study on many machines and compare their verdicts.

    Each machine runs both sides of the race itself, as `regatta race` there would; Regatta must be
    built on it (docs/hosts.md). If a machine fails, the others continue; --resume tries again on
    the machines without a result.

    Exit status: 1 if a machine has no result, else 0.

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
            raise UsageError("--resume takes the folder of a fleet and no other option")
        folder, plan = Path(study), read_plan(Path(study))
    else:
        plan = plan_of(study or "quick", machine_urls(host or [], hosts), cluster, quick)
        folder = out or RACES / plan.order.name
        plan.write(folder)
    if plan.cluster and (risk := cluster_risk(plan.cluster)):
        say(console, f"warning: {risk}")
    outcomes = run_with_progress(plan, folder, console)
    results = {one.name: one.result for one in outcomes if one.result is not None}
    study_title = next((result["title"] for result in results.values()), plan.order.name)
    title = f"{study_title}, on {plural(len(outcomes), 'machine')}"
    standings = standings_of(results)
    write_fleet(folder, title, standings, outcomes)
    if as_json:
        print_json(
            {
                "machines": [asdict(one) for one in outcomes],
                **as_dict(standings, len(results)),
            }
        )
    else:
        show(standings, outcomes, console)
        say(console, f"report: {shown(folder / PAGE)}")
    if failed := [one.name for one in outcomes if one.result is None]:
        raise RegattaError(
            f"{plural(len(failed), 'machine')} of {len(outcomes)} failed "
            f"({', '.join(failed[:5])}); continue with "
            f"{called_with('fleet', '--resume', shown(folder))}"
        )


def machine_urls(urls: list[str], listed: Path | None) -> list[str]:
    """The machines of `--host`, then those of the file `--hosts`."""
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
            raise UsageError(f"{url} is not a machine; write {NEEDED}") from error
    return urls


def plan_of(study: str, urls: list[str], cluster: str | None, quick: bool) -> Plan:
    if bool(urls) == (cluster is not None):
        raise UsageError("name the machines: --host or --hosts, or --cluster")
    path = find_study(study)
    read = load_study(path, discover().designs)
    if read.placement == HOSTS:
        raise UsageError(
            f"{path} names the hosts of one race; in a fleet each machine runs both sides itself"
        )
    order = RaceOrder(
        name=f"{read.name}-fleet-{time.strftime('%Y%m%d-%H%M%S')}-{token_hex(2)}",
        study=path.read_text(),
        options=("--quick",) if quick else (),
    )
    return Plan(order, urls, cluster)


def run_with_progress(plan: Plan, folder: Path, console: Output) -> list[MachineResult]:
    done = 0

    def on_result(one: MachineResult) -> None:
        nonlocal done
        done += 1
        if one.result is None:
            say(console, f"{done} {one.name}: failed: {one.reason}")
            return
        found = summary_of(one.result)
        say(console, f"{done} {one.name}: raced in {found.took_s or 0:.0f} s. {found.says}")

    try:
        return run_fleet(plan, folder, on_result)
    except KeyboardInterrupt as error:
        raise InterruptedRaceError(
            "interrupted; finished machines are kept, and the others continue where they were. "
            f"Continue with: {called_with('fleet', '--resume', shown(folder))}"
        ) from error


def show(standings: Standings, outcomes: list[MachineResult], console: Output) -> None:
    for one in fleet_tables(standings, outcomes):
        table = Table(title=Text(one.title, style="bold"), title_justify="left", box=None)
        for name in one.header:
            table.add_column(name, overflow="fold")
        for row in one.rows:
            table.add_row(*(plain(text, console) for text in row))
        console.print()
        print_table(table, console)
    console.print()
    console.print(plain(sentence(standings, outcomes), console, "bold"))


def as_dict(standings: Standings, machines: int) -> dict[str, object]:
    plain_form = asdict(standings)
    for key, rows in (("verdicts", standings.verdicts), ("claims", standings.claims)):
        for row, one in zip(rows, plain_form[key], strict=True):
            one["says"] = outcome_words(row, machines)
    return plain_form

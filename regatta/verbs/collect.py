"""`regatta collect`: one study on many machines, and what holds on all of them."""

import time
from dataclasses import asdict
from pathlib import Path
from secrets import token_hex
from typing import Annotated

import typer

from regatta.errors import InterruptedRaceError, RegattaError, UsageError
from regatta.measure.programs import called_with, discover, shown
from regatta.measure.race.folder import RACES
from regatta.record.files import write_whole
from regatta.record.study import find_study, load_study
from regatta.record.study.cluster import cluster_risk
from regatta.record.study.hosts import NEEDED, host_name
from regatta.record.study.limits import HOSTS
from regatta.show.numbers import plural
from regatta.show.terminal import draw_table
from regatta.show.text import plain
from regatta.verbs.fleet.fleet import MachineResult, Plan, read_plan, run_fleet
from regatta.verbs.fleet.machines import RaceOrder
from regatta.verbs.fleet.standings import FleetStandings, outcome_words, standings_of, summary_of
from regatta.verbs.fleet.tables import collected_tables, read_ledgers, sentence, to_markdown
from regatta.verbs.output import Output, print_json, say

REPORT = "collected.md"


def collect(  # noqa: PLR0913, PLR0917  (one parameter an option)
    what: Annotated[
        list[str],
        typer.Argument(help="Ledgers or folders of races; or one study, with the machines."),
    ],
    host: Annotated[
        list[str] | None,
        typer.Option(help="Race the study on this machine, ssh://USER@HOST; repeatable."),
    ] = None,
    hosts: Annotated[Path | None, typer.Option(help="A file with one machine a line.")] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="A Dask scheduler (tcp://…, tls://…): race on each of its machines."),
    ] = None,
    resumes: Annotated[
        bool, typer.Option("--resume", help="Continue the races whose folder is WHAT.")
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
    """Compare the verdicts of one study on many machines.

    Reads the ledgers that others hand in, a copy of a race once. Or races a study on many machines:
    each runs both sides itself, as `regatta race` there would; Regatta must be built on it
    (docs/hosts.md). If a machine fails, the others continue; --resume tries again on the machines
    without a result.

    Exit status: 1 if a machine has no result, or a ledger cannot be read, else 0.

    [bold]Examples[/]

      regatta collect handed-in/*.sqlite
      regatta collect quick --host ssh://root@a --host ssh://root@b
      regatta collect mine.toml --hosts machines.txt --quick
      regatta collect quick --cluster tls://scheduler:8786
      regatta collect --resume races/quick-fleet-20260101-120000
      regatta collect handed-in/*.sqlite --json > class.json
    """
    console = Output(stderr=as_json)
    urls = machine_urls(host or [], hosts)
    machines = bool(urls) or cluster is not None
    if (machines or resumes) and len(what) > 1:
        raise UsageError(f"name one study, not {len(what)}: its machines are options")
    if not machines and not resumes:
        if hosts or quick or what[0].endswith(".toml") or not Path(what[0]).exists():
            raise UsageError(f"name ledgers, or machines to race {what[0]} on: --host ssh://HOST")
        if out:
            raise UsageError("--out is for races on machines; what ledgers hold is printed")
        outcomes = read_ledgers(list(map(Path, what)), lambda text: say(console, text))
        present(outcomes, console, as_json)
        if failed := [one for one in outcomes if one.result is None]:
            raise RegattaError("; ".join(one.reason for one in failed))
        return
    if resumes:
        if urls or cluster or quick or out:
            raise UsageError("--resume takes the folder of earlier races and no other option")
        folder, plan = Path(what[0]), read_plan(Path(what[0]))
    else:
        plan = plan_of(what[0], urls, cluster, quick)
        folder = out or RACES / plan.order.name
        plan.write(folder)
    if plan.cluster and (risk := cluster_risk(plan.cluster)):
        say(console, f"warning: {risk}")
    outcomes = run_with_progress(plan, folder, console)
    standings = present(outcomes, console, as_json)
    title = f"{plan.order.name}, on {plural(len(outcomes), 'machine')}"
    write_whole(folder / REPORT, to_markdown(title, standings, outcomes))
    if not as_json:
        say(console, f"report: {shown(folder / REPORT)}")
    if names := [one.name for one in outcomes if one.result is None]:
        raise RegattaError(
            f"{plural(len(names), 'machine')} of {len(outcomes)} failed "
            f"({', '.join(names[:5])}); continue with "
            f"{called_with('collect', '--resume', shown(folder))}"
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
    if urls and cluster is not None:
        raise UsageError("name the machines once: --host or --hosts, or --cluster")
    path = find_study(study)
    read = load_study(path, discover().designs)
    if read.placement == HOSTS:
        raise UsageError(
            f"{path} names the hosts of one race; here each machine runs both sides itself"
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
            f"Continue with: {called_with('collect', '--resume', shown(folder))}"
        ) from error


def present(outcomes: list[MachineResult], console: Output, as_json: bool) -> FleetStandings:
    """Prints what holds on all machines, and returns it."""
    standings = standings_of({one.name: one.result for one in outcomes if one.result is not None})
    if as_json:
        print_json({"machines": [asdict(one) for one in outcomes], **as_dict(standings, outcomes)})
        return standings
    for one in collected_tables(standings, outcomes):
        console.print()
        draw_table(one, [], console)
    console.print()
    console.print(plain(sentence(standings, outcomes), console, "bold"))
    return standings


def as_dict(standings: FleetStandings, outcomes: list[MachineResult]) -> dict[str, object]:
    machines = sum(one.result is not None for one in outcomes)
    plain_form = asdict(standings)
    for key, rows in (("verdicts", standings.verdicts), ("claims", standings.claims)):
        for row, one in zip(rows, plain_form[key], strict=True):
            one["says"] = outcome_words(row, machines)
    return plain_form

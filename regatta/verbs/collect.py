"""`regatta collect`: one study on many machines, and what holds on all of them."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import count
from pathlib import Path
from secrets import token_hex

import typer

from regatta.errors import RegattaError, UsageError
from regatta.measure.programs import called_with, discover, shown
from regatta.record.files import RACES, write_whole
from regatta.record.study import find_study, load_study
from regatta.record.study.limits import HOSTS
from regatta.record.study.placement import HOST_NEEDED, host_name
from regatta.show.numbers import plural
from regatta.show.terminal import draw_table
from regatta.show.text import plain
from regatta.verbs import collected
from regatta.verbs.fleet import Fleet, read_fleet, run_fleet
from regatta.verbs.output import Output, options, print_json, say
from regatta.verbs.session import stoppable

REPORT = "collected.md"


@options(
    what=typer.Argument(help="Ledgers or folders of races; or one study, with the machines."),
    host="Race the study on this machine, ssh://USER@HOST; repeatable.",
    hosts="A file with one machine a line.",
    resume="Continue the races whose folder is WHAT.",
    quick="A first look, in few blocks.",
    out=typer.Option(help="Folder for all results.", show_default="races/NAME-TIME"),
    json="Print the results as JSON, progress on stderr.",
)
def collect(  # noqa: PLR0913, PLR0917  (one parameter an option)
    what: list[str],
    host: list[str] | None = None,
    hosts: Path | None = None,
    resume: bool = False,
    quick: bool = False,
    out: Path | None = None,
    json: bool = False,
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
      regatta collect --resume races/quick-fleet-20260101-120000
      regatta collect handed-in/*.sqlite --json > class.json
    """
    console = Output(stderr=json)
    urls = machine_urls(host or [], hosts)
    if (urls or resume) and len(what) > 1:
        raise UsageError(f"name one study, not {len(what)}: its machines are options")
    if resume:
        if urls or quick or out:
            raise UsageError("--resume takes the folder of earlier races and no other option")
        race_all(read_fleet(Path(what[0])), Path(what[0]), console, json)
        return
    if urls:
        fleet = planned(what[0], urls, quick)
        folder = out or RACES / fleet.name
        fleet.write(folder)
        race_all(fleet, folder, console, json)
        return
    if hosts or quick or what[0].endswith(".toml") or not Path(what[0]).exists():
        raise UsageError(f"name ledgers, or machines to race {what[0]} on: --host ssh://HOST")
    if out:
        raise UsageError("--out is for races on machines; what ledgers hold is printed")
    outcomes = collected.read_ledgers(list(map(Path, what)), lambda text: say(console, text))
    present(outcomes, console, json)
    if failed := [outcome.reason for outcome in outcomes if outcome.result is None]:
        raise RegattaError("; ".join(failed))


def machine_urls(urls: list[str], listed: Path | None) -> list[str]:
    """The machines of `--host`, then those of the file `--hosts`."""
    if listed is not None:
        try:
            lines = listed.read_text().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {listed}: {error}") from error
        urls = [*urls, *(text for line in lines if (text := line.partition("#")[0].strip()))]
    for url in urls:
        try:
            host_name(url)
        except ValueError as error:
            raise UsageError(f"{url} is not a machine; write {HOST_NEEDED}") from error
    return urls


def planned(study: str, urls: list[str], quick: bool) -> Fleet:
    path = find_study(study)
    read = load_study(path, discover().designs)
    if read.placement == HOSTS:
        raise UsageError(
            f"{path} names the hosts of one race; here each machine runs both sides itself"
        )
    name = f"{read.name}-fleet-{time.strftime('%Y%m%d-%H%M%S')}-{token_hex(2)}"
    return Fleet(name, path.read_text(), quick, urls)


def race_all(fleet: Fleet, folder: Path, console: Output, as_json: bool) -> None:
    """Races on the machines without a result, and shows and writes what all found."""
    again = partial(called_with, "collect", "--resume", shown(folder))
    numbers = count(1)

    def on_result(outcome: collected.MachineResult) -> None:
        says = f"failed: {outcome.reason}"
        if outcome.result is not None:
            took = collected.took(outcome.result) or "0 s"
            says = f"raced in {took}. {collected.first_verdict(outcome.result)}"
        say(console, f"{next(numbers)} {outcome.name}: {says}")

    what_stays = "finished machines are kept, and the others continue where they were"
    with stoppable(what_stays, again):
        outcomes = run_fleet(fleet, folder, on_result)
    standings = present(outcomes, console, as_json)
    title = f"{fleet.name}, on {plural(len(outcomes), 'machine')}"
    write_whole(folder / REPORT, collected.to_markdown(title, standings, outcomes))
    if not as_json:
        say(console, f"report: {shown(folder / REPORT)}")
    if names := [outcome.name for outcome in outcomes if outcome.result is None]:
        raise RegattaError(
            f"{plural(len(names), 'machine')} of {len(outcomes)} failed "
            f"({', '.join(names[:5])}); continue with {again()}"
        )


def present(
    outcomes: Sequence[collected.MachineResult], console: Output, as_json: bool
) -> collected.FleetStandings:
    """Prints what holds on all machines, and returns it."""
    standings = collected.standings_of(outcomes)
    if as_json:
        print_json({"machines": [asdict(outcome) for outcome in outcomes], **asdict(standings)})
        return standings
    for table in collected.collected_tables(standings, outcomes):
        console.print()
        draw_table(table, [], console)
    console.print()
    console.print(plain(collected.sentence(standings, outcomes), console, "bold"))
    return standings

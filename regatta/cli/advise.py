"""`regatta advise`: which design for my situation, by what was measured here?"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from regatta import advise as advising
from regatta.advise import MARK, Deciding
from regatta.cli.output import Output, print_json
from regatta.cli.session import RaceSession, analysis_of, run_race, show_results
from regatta.errors import RegattaError, UsageError
from regatta.machine import environment
from regatta.machine.programs import discover
from regatta.race.folder import RACES
from regatta.race.options import Options
from regatta.report.files import write_files

STUDY = Path("advise.toml")
WORK = "classic"
"""The real work of the study quick. The help and the first line say it."""


def advise(  # noqa: PLR0913, PLR0917  (one for each thing that a person may know)
    connections: Annotated[int, typer.Option(help="Concurrent connections, idle ones included.")],
    work: Annotated[
        str,
        typer.Option(
            help="Cost of a request, as in studies: snapshot (next to nothing), classic, "
            "spin=50us (computes), wait=5ms (waits, as for a database)."
        ),
    ] = WORK,
    rate: Annotated[
        int | None,
        typer.Option(
            help="Total requests per second; by default each client asks again when answered."
        ),
    ] = None,
    idle: Annotated[float, typer.Option(help="Percentage of connections that are idle.")] = 0.0,
    cpus: Annotated[int | None, typer.Option(help="CPUs available to the server.")] = None,
    memory: Annotated[
        str | None, typer.Option(help="Memory available to the server: 512M, 2G.")
    ] = None,
    ledger: Annotated[
        list[Path] | None,
        typer.Option(help="A race to search; may be repeated.", show_default="races"),
    ] = None,
    study: Annotated[
        Path, typer.Option(help="Where to write the study that would decide.")
    ] = STUDY,
    run: Annotated[bool, typer.Option("--run", help="Run that study now, without asking.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the advice as JSON.")] = False,
) -> None:
    """Name the two or three designs that this machine's races favour for your situation.

    It searches the ledgers in races/ for cells within a factor 2 of the situation: connections,
    idle ones, rate, the work's time, CPUs. Anything farther off is "not measured", as is anything
    beyond a design's limit (select's descriptors, a pool's workers, a full CPU): it does not
    guess. Then it writes the study that would decide, and offers to run it.

    Designs that failed or could not keep up are excluded, then those with more than twice the
    best latency (p50 or p99); the rest are ranked by server CPU per request.

    [bold]Examples[/]

      regatta advise --connections 1000 --rate 5000
      regatta advise --connections 100 --work classic
      regatta advise --connections 5000 --idle 98 --rate 10000 --work snapshot
      regatta advise --connections 64 --work wait=5ms --run
      regatta advise --connections 50 --work spin=1ms --cpus 2 --memory 2G --json
      regatta advise --connections 100 --work classic --ledger races/quick-20260101-120000
    """
    situation = advising.make_situation(connections, idle, rate, work, cpus, memory)
    known = [design.name for design in discover().designs if not design.missing]
    machine = {name: environment.facts()[name]() for name in advising.SAME_MACHINE}
    request = advising.AdviceRequest(situation, ledger or [], RACES, machine, known)
    advice = advising.advise(request)
    if advice.deciding is not None:
        write_study(study, advice.deciding)
    console = Output(stderr=as_json)
    if not as_json:
        advising.print_advice(advice, study, console)
    if advice.deciding is not None and (run or confirmed(as_json, advice.deciding)):
        folder = race(study, as_json)
        advice = advising.advise(replace(request, ledgers=[folder]))
        if not as_json:
            console.print()
            advising.print_advice(advice, study, console)
    if as_json:
        print_json(advising.to_dict(advice, study))


def write_study(path: Path, deciding: Deciding) -> None:
    """A file that a person wrote is not overwritten."""
    try:
        if path.exists() and not path.read_text(errors="replace").startswith(MARK):
            raise UsageError(
                f"{path} exists and is not from `regatta advise`; name another --study"
            )
        path.write_text(deciding.toml, encoding="utf-8")
    except OSError as error:
        raise RegattaError(
            f"cannot write {path}: {error.strerror or error}; name another --study"
        ) from error


def confirmed(as_json: bool, deciding: Deciding) -> bool:
    """Offers to run it to a person; a script is not asked."""
    if as_json or deciding.cannot or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return typer.confirm("Run it now?", default=False)


def race(study: Path, as_json: bool) -> Path:
    """Runs the deciding study; returns the folder of the race."""
    session = RaceSession(as_json, quiet=False)
    folder = run_race(str(study), False, Options(), session)
    if as_json:
        write_files(analysis_of(folder), folder)
    else:
        show_results(analysis_of(folder), folder, session)
    return folder

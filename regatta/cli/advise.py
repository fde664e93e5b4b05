"""`regatta advise`: recommend designs for a situation from this machine's races."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from regatta import advise as advising
from regatta.advise import MARK, Deciding
from regatta.cli.output import Output, print_json, say
from regatta.cli.session import RaceSession, analysis_of, run_race, show_results
from regatta.errors import RegattaError, UsageError
from regatta.machine import environment
from regatta.machine.programs import discover, shown
from regatta.race.folder import RACES
from regatta.race.options import Options
from regatta.report.files import write_files

STUDY = Path("advise.toml")
WORK = "classic"
"""The work of the study quick."""


def advise(  # noqa: PLR0913, PLR0917  (one parameter an option)
    connections: Annotated[int, typer.Option(help="Concurrent connections, idle ones included.")],
    work: Annotated[
        str,
        typer.Option(
            help="Work of a request, as in studies: snapshot (almost none), classic, spin=50us "
            "(computes), wait=5ms (waits, as for a database)."
        ),
    ] = WORK,
    rate: Annotated[
        int | None,
        typer.Option(
            help="Requests per second in total. Default: a closed load, each client sends its next "
            "request when the last is answered."
        ),
    ] = None,
    idle: Annotated[float, typer.Option(help="Percentage of idle connections.")] = 0.0,
    cpus: Annotated[int | None, typer.Option(help="CPUs available to the server.")] = None,
    memory: Annotated[
        str | None, typer.Option(help="Memory available to the server: 512M, 2G.")
    ] = None,
    ledger: Annotated[
        list[Path] | None,
        typer.Option(help="A race to search; repeatable.", show_default="races"),
    ] = None,
    study: Annotated[
        Path, typer.Option(help="Where to write the study that would decide.")
    ] = STUDY,
    run: Annotated[bool, typer.Option("--run", help="Run that study now without asking.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the advice as JSON.")] = False,
) -> None:
    """Recommend designs for your situation from this machine's races.

    Searches the ledgers in races/ for cells within a factor of 2 of the situation in connections,
    idle connections, rate, work and CPUs. It does not extrapolate: what is farther away, or beyond
    a limit of a design (descriptors of select, workers of a pool, CPU time), is "not measured".
    Then it writes a study of exactly this situation and offers to run it.

    Excludes designs that failed or could not keep up, then those with more than twice the best p50
    or p99. Ranks the rest by server CPU per request.

    [bold]Examples[/]

      regatta advise --connections 1000 --rate 5000
      regatta advise --connections 100 --work classic
      regatta advise --connections 5000 --idle 98 --rate 10000 --work snapshot
      regatta advise --connections 64 --work wait=5ms --run
      regatta advise --connections 50 --work spin=1ms --cpus 2 --memory 2G --json
      regatta advise --connections 100 --ledger races/quick-20260101-120000
    """
    situation = advising.make_situation(connections, idle, rate, work, cpus, memory)
    known = [design.name for design in discover().designs if not design.missing]
    machine = {name: environment.facts()[name]() for name in advising.SAME_MACHINE}
    request = advising.AdviceRequest(situation, ledger or [], RACES, machine, known)
    advice = advising.advise(request)
    console = Output(stderr=as_json)
    kept = write_study(study, advice.deciding) if advice.deciding is not None else None
    if kept is not None:
        say(console, f"note: {shown(study)} is replaced; the one before is now {shown(kept)}")
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


def write_study(path: Path, deciding: Deciding) -> Path | None:
    """Writes the study, unless that would overwrite a file that `advise` did not write.

    Another study of an earlier call is kept; returns its new name.
    """
    kept = None
    try:
        if path.exists():
            before = path.read_text(errors="replace")
            if not before.startswith(MARK):
                raise UsageError(
                    f"{path} exists and was not written by `regatta advise`; name another --study"
                )
            if before != deciding.toml:
                kept = path.replace(path.with_name(f"{path.name}.old"))
        path.write_text(deciding.toml, encoding="utf-8")
    except OSError as error:
        raise RegattaError(
            f"cannot write {path}: {error.strerror or error}; name another --study"
        ) from error
    return kept


def confirmed(as_json: bool, deciding: Deciding) -> bool:
    """Asks whether to run the study, but only on a terminal."""
    if as_json or deciding.cannot or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return typer.confirm("Run it now?", default=False)


def race(study: Path, as_json: bool) -> Path:
    """Runs the study and returns the folder of the race."""
    session = RaceSession(as_json, quiet=False)
    folder = run_race(str(study), False, Options(), session)
    if as_json:
        write_files(analysis_of(folder), folder)
    else:
        show_results(analysis_of(folder), folder, session)
    return folder

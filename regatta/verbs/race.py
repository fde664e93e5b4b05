"""`regatta race`: race the designs of a study."""

from pathlib import Path
from typing import Annotated

import typer

from regatta.errors import RegattaError, UsageError
from regatta.measure.race.options import Options
from regatta.record.read import read_failures
from regatta.record.schema import FILE_NAME
from regatta.record.study import (
    MAX_BLOCKS,
    MAX_SEED,
    MAX_SITTINGS,
    PLACEMENTS,
    STEERINGS,
    cpus_option,
    parse_pause,
    suggestion,
)
from regatta.verbs.session import (
    EXPLAIN,
    RaceSession,
    analysis_of,
    run_race,
    show_results,
)


def check_range(option: str, value: int | None, high: int, low: int = 1) -> None:
    if value is not None and not low <= value <= high:
        raise UsageError(f"{option} is {value}; it must be a whole number from {low} to {high}")


def check_choice(option: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        like = suggestion(value, allowed)
        raise UsageError(f"{option} is {value}; it must be one of {', '.join(allowed)}{like}")


def race(  # noqa: PLR0913, PLR0917  (one parameter an option)
    study: Annotated[
        str | None,
        typer.Argument(
            help="A TOML file, or the name of a shipped study (quick, reports). With --resume "
            "also the folder of a race.",
            show_default="quick",
        ),
    ] = None,
    resumes: Annotated[
        bool,
        typer.Option("--resume", help="Continue the race in STUDY, or the newest unfinished one."),
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the random order; chosen and recorded if not given.")
    ] = None,
    blocks: Annotated[
        int | None, typer.Option(help="Timed trials per cell; overrides the study.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="A first look: all cells in one sitting, in few blocks that still give intervals.",
        ),
    ] = False,
    sittings: Annotated[
        int | None,
        typer.Option(
            help="Repeat the whole race, each time with another link order, environment size and "
            "network, to include how much builds and hours vary."
        ),
    ] = None,
    pause: Annotated[
        str | None,
        typer.Option(help="Wait between sittings: 10min, 1h. Or stop, and --resume later."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the ledger and report.", show_default="races/NAME-TIME"),
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(help="auto, netns (two network namespaces), loopback or containers."),
    ] = None,
    server_cpus: Annotated[
        str | None, typer.Option(help="CPUs of the server: 0 or 0,2 or 2-5.")
    ] = None,
    client_cpus: Annotated[str | None, typer.Option(help="CPUs of the client.")] = None,
    steering: Annotated[
        str | None,
        typer.Option(
            help="own-side (the receiver's CPUs process its packets, where permitted) or none.",
            show_default="own-side",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results as JSON, progress on stderr.")
    ] = False,
    explain: Annotated[bool, EXPLAIN] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    no_perf: Annotated[
        bool, typer.Option("--no-perf", help="Use only the kernel's own accounting.")
    ] = False,
) -> None:
    """Race the designs of a study and report which one wins.

    The report says by how much, how sure that is, and why. Ctrl-C stops the race and keeps its
    finished trials; --resume continues it. Trials disturbed by other programs are repeated; if most
    are, `regatta doctor` finds the cause.

    [bold]Examples[/]

      regatta race                          the study quick, about a minute
      regatta race reports --quick          a first look, a quarter of its trials
      regatta race reports --blocks 12      another number of blocks
      regatta race reports --sittings 5     include how builds and hours vary
      regatta race mine.toml --seed 7       your own study, in a fixed order
      regatta race --resume                 continue the newest unfinished race
      regatta race --resume races/reports-20260101-120000
      regatta race --server-cpus 2 --client-cpus 3
      regatta race --json --quiet > result.json
    """
    session = RaceSession(as_json, quiet, explain)
    check_range("--seed", seed, MAX_SEED, low=0)
    check_range("--blocks", blocks, MAX_BLOCKS)
    if quick and blocks is not None:
        raise UsageError("--quick and --blocks cannot be combined: --quick sets the blocks")
    check_range("--sittings", sittings, MAX_SITTINGS)
    check_choice("--placement", placement, PLACEMENTS)
    check_choice("--steering", steering, STEERINGS)
    options = Options(
        out=out,
        seed=seed,
        blocks=blocks,
        sittings=sittings,
        pause_s=None if pause is None else parse_pause(pause, "--pause"),
        placement=placement,
        server_cpus=cpus_option(server_cpus, "--server-cpus"),
        client_cpus=cpus_option(client_cpus, "--client-cpus"),
        steering=steering,
        use_perf=not no_perf,
        quick=quick,
    )
    folder = run_race(study, resumes, options, session)
    show_results(analysis_of(folder), folder, session)
    if failures := read_failures(folder / FILE_NAME):
        raise RegattaError(f"{len(failures)} trials failed and are excluded; the report says why")

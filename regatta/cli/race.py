"""`regatta race`: race the designs of a study."""

from pathlib import Path
from typing import Annotated

import typer

from regatta.cli.session import (
    EXPLAIN,
    RaceSession,
    analysis_of,
    failed_trials,
    run_race,
    show_results,
)
from regatta.errors import RegattaError, UsageError
from regatta.race.options import Options
from regatta.study import (
    MAX_BLOCKS,
    MAX_SEED,
    MAX_SITTINGS,
    PLACEMENTS,
    STEERINGS,
    cpus_option,
    parse_pause,
)


def positive(option: str, value: int | None, high: int, low: int = 1) -> None:
    if value is not None and not low <= value <= high:
        raise UsageError(f"{option} is {value}; it must be a whole number from {low} to {high}")


def read_options(  # noqa: PLR0913, PLR0917  (one for each option of the verb)
    seed: int | None,
    blocks: int | None,
    quick: bool,
    sittings: int | None,
    pause: str | None,
    out: Path | None,
    placement: str | None,
    server_cpus: str | None,
    client_cpus: str | None,
    steering: str | None,
    use_perf: bool,
) -> Options:
    positive("--seed", seed, MAX_SEED, low=0)
    positive("--blocks", blocks, MAX_BLOCKS)
    if quick and blocks is not None:
        raise UsageError("--quick and --blocks cannot be combined: --quick says how many blocks")
    positive("--sittings", sittings, MAX_SITTINGS)
    for option, value, allowed in (
        ("--placement", placement, PLACEMENTS),
        ("--steering", steering, STEERINGS),
    ):
        if value is not None and value not in allowed:
            raise UsageError(f"{option} is {value}; it must be one of {', '.join(allowed)}")
    return Options(
        out=out,
        seed=seed,
        blocks=blocks,
        sittings=sittings,
        pause_s=None if pause is None else parse_pause(pause, "--pause"),
        placement=placement,
        server_cpus=cpus_option(server_cpus, "--server-cpus"),
        client_cpus=cpus_option(client_cpus, "--client-cpus"),
        steering=steering,
        use_perf=use_perf,
        quick=quick,
    )


def race(  # noqa: PLR0913, PLR0917  (each parameter is an option that a person may type)
    study: Annotated[
        str | None,
        typer.Argument(
            help="A study: a TOML file, or the name of a shipped one (quick, reports). "
            "With --resume also the folder of a race.",
            show_default="quick",
        ),
    ] = None,
    resumes: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue the race in the given folder, or the newest unfinished one."
        ),
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the random order; chosen and recorded by default.")
    ] = None,
    blocks: Annotated[
        int | None, typer.Option(help="Timed trials per cell; overrides the study.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="A first look: all cells, in few blocks that still give intervals, and in one "
            "sitting.",
        ),
    ] = False,
    sittings: Annotated[
        int | None,
        typer.Option(
            help="Repeat the whole race, each time with another link order, environment size and "
            "fresh networks: shows how far builds and hours differ."
        ),
    ] = None,
    pause: Annotated[
        str | None,
        typer.Option(help="Rest between sittings: 10min, 1h. Or stop, and --resume later."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the ledger and report.", show_default="races/NAME-TIME"),
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(help="auto, netns (two networks joined by a cable), loopback or containers."),
    ] = None,
    server_cpus: Annotated[
        str | None, typer.Option(help="CPUs of the server: 0 or 0,2 or 2-5.")
    ] = None,
    client_cpus: Annotated[str | None, typer.Option(help="CPUs of the client.")] = None,
    steering: Annotated[
        str | None,
        typer.Option(
            help="own-side (packets are processed on the receiving side's CPUs, where permitted) "
            "or none.",
            show_default="own-side",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results as JSON, progress on stderr.")
    ] = False,
    explain: Annotated[bool, EXPLAIN] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    no_perf: Annotated[
        bool, typer.Option("--no-perf", help="Use the kernel's own accounting only.")
    ] = False,
) -> None:
    """Race the designs of a study: which one wins, by how much, and how sure that is.

    Ctrl-C stops cleanly: finished trials are kept, and --resume continues. Trials disturbed by
    other programs are repeated; if most are, find the cause with `regatta doctor`.

    [bold]Examples[/]

      regatta race                            the study quick, about a minute
      regatta race reports --quick            a first look: a quarter of its trials
      regatta race reports --blocks 12        the same, in as many blocks as you say
      regatta race mine.toml --seed 7         your own study, in a fixed random order
      regatta race reports --sittings 5       does it hold for other builds and hours?
      regatta race --server-cpus 2 --client-cpus 3
      regatta race --resume                   the newest unfinished race of the study quick
      regatta race --resume races/reports-20260101-120000
      regatta race --json --quiet > result.json
    """
    session = RaceSession(as_json, quiet, explain)
    options = read_options(
        seed,
        blocks,
        quick,
        sittings,
        pause,
        out,
        placement,
        server_cpus,
        client_cpus,
        steering,
        use_perf=not no_perf,
    )
    folder = run_race(study, resumes, options, session)
    show_results(analysis_of(folder), folder, session)
    failures = failed_trials(folder)
    if failures:
        raise RegattaError(f"{len(failures)} trials failed and are excluded; the report says why")

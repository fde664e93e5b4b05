"""`regatta race`: race the designs of a study."""

from pathlib import Path

import typer

from regatta.errors import RegattaError, UsageError
from regatta.measure.programs import Programs, discover
from regatta.measure.race.events import Tell
from regatta.measure.race.options import Options
from regatta.measure.race.place_sides import raced_contenders
from regatta.measure.race.race import begin, reopen
from regatta.record import study as studies
from regatta.record.files import RACES, find_unfinished
from regatta.record.read import read_failures
from regatta.record.schema import FILE_NAME
from regatta.record.study import limits
from regatta.verbs.output import CLIENT_CPUS, EXPLAIN, QUIET, SERVER_CPUS, WHY, YES, options, permit
from regatta.verbs.session import HOOKS, RaceSession, analysis_of, raced, show_results


@options(
    study=typer.Argument(
        help="A TOML file, or the name of a shipped study (quick, reports). With --resume also the "
        "folder of a race.",
        show_default="quick",
    ),
    resume="Continue the race in STUDY, or the newest unfinished one.",
    seed="Seed of the random order; chosen and recorded if not given.",
    blocks="Timed trials per cell; overrides the study.",
    quick="A first look: all cells in one sitting, in few blocks that still give intervals.",
    sittings="Repeat the whole race, each time with another link order, environment size and "
    "network, to include how much builds and hours vary.",
    pause="Wait between sittings: 10min, 1h. Or stop, and --resume later.",
    out=typer.Option(help="Folder for the ledger and report.", show_default="races/NAME-TIME"),
    placement="auto, netns (two network namespaces), loopback or containers.",
    server_cpus=SERVER_CPUS,
    client_cpus=CLIENT_CPUS,
    steering=typer.Option(
        help="own-side (the receiver's CPUs process its packets, where permitted) or none.",
        show_default="own-side",
    ),
    json="Print the results as JSON, progress on stderr.",
    why=WHY,
    explain=EXPLAIN,
    quiet=QUIET,
    no_perf="Use only the kernel's own accounting.",
    yes=YES,
)
def race(  # noqa: PLR0913, PLR0917  (one parameter an option)
    study: str | None = None,
    resume: bool = False,
    seed: int | None = None,
    blocks: int | None = None,
    quick: bool = False,
    sittings: int | None = None,
    pause: str | None = None,
    out: Path | None = None,
    placement: str | None = None,
    server_cpus: str | None = None,
    client_cpus: str | None = None,
    steering: str | None = None,
    json: bool = False,
    why: bool = False,
    explain: bool = False,
    quiet: bool = False,
    no_perf: bool = False,
    yes: bool = False,
) -> None:
    """Race the designs of a study and report which one wins.

    The report says by how much, how sure that is, and why. Ctrl-C stops the race and keeps its
    finished trials; --resume continues it. Trials disturbed by other programs are repeated; if most
    are, `regatta doctor` finds the cause.

    [bold]Examples[/]

      regatta race                          the study quick, about a minute
      regatta race reports --quick          a first look, a quarter of its trials
      regatta race reports --blocks 12      another number of blocks
      regatta race --why                    and what makes the difference
      regatta race reports --sittings 5     include how builds and hours vary
      regatta race mine.toml --seed 7       your own study, in a fixed order
      regatta race --resume                 continue the newest unfinished race
      regatta race --resume races/reports-20260101-120000
      regatta race --server-cpus 2 --client-cpus 3
      regatta race --json --quiet > result.json
    """
    session = RaceSession(json, quiet, explain)
    check_range("--seed", seed, limits.MAX_SEED, low=0)
    check_range("--blocks", blocks, limits.MAX_BLOCKS)
    if quick and blocks is not None:
        raise UsageError("--quick and --blocks cannot be combined: --quick sets the blocks")
    check_range("--sittings", sittings, limits.MAX_SITTINGS)
    check_choice("--placement", placement, limits.PLACEMENTS)
    check_choice("--steering", steering, limits.STEERINGS)
    given = Options(
        out=out,
        seed=seed,
        blocks=blocks,
        sittings=sittings,
        pause_s=None if pause is None else studies.parse_pause(pause, "--pause"),
        placement=placement,
        server_cpus=studies.cpus_option(server_cpus, "--server-cpus"),
        client_cpus=studies.cpus_option(client_cpus, "--client-cpus"),
        steering=steering,
        use_perf=not no_perf,
        quick=quick,
        why=why,
    )
    if resume and given != Options():
        raise UsageError(
            "a resumed race keeps its options; only --json, --explain and --quiet may be given "
            "with --resume"
        )
    programs = discover()

    def run(tell: Tell) -> Path:
        if resume:
            return resumed(study, programs, tell)
        read = studies.load_study(studies.find_study(study or "quick"), programs.designs)
        permit((of.address for of in raced_contenders(read).values()), yes)
        return begin(read, given, programs, tell, HOOKS)

    folder = raced(run, session)
    show_results(analysis_of(folder), folder, session)
    if failures := read_failures(folder / FILE_NAME):
        raise RegattaError(f"{len(failures)} trials failed and are excluded; the report says why")


def check_range(option: str, value: int | None, high: int, low: int = 1) -> None:
    if value is not None and not low <= value <= high:
        raise UsageError(f"{option} is {value}; it must be a whole number from {low} to {high}")


def check_choice(option: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        like = studies.suggestion(value, allowed)
        raise UsageError(f"{option} is {value}; it must be one of {', '.join(allowed)}{like}")


def resumed(study: str | None, programs: Programs, tell: Tell) -> Path:
    """Continues the race in a folder, or the newest unfinished race of a study."""
    if study is not None and Path(study).is_dir():
        return reopen(Path(study), None, programs, tell, HOOKS)
    wanted = studies.load_study(studies.find_study(study or "quick"), programs.designs)
    return reopen(find_unfinished(RACES, wanted.name), wanted, programs, tell, HOOKS)

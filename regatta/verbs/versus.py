"""`regatta versus`: race servers that are given on the command line."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from regatta.errors import RegattaError, UsageError
from regatta.judge.verdict import AGAIN, BASE
from regatta.measure.programs import called_with, discover, shown
from regatta.measure.race.events import Event, Searched, SearchStarted, Started, TrialFinished
from regatta.measure.race.folder import RACES, new_folder
from regatta.measure.race.look import look_notes, recorded_looks
from regatta.measure.race.options import Options
from regatta.measure.race.race import begin
from regatta.measure.trial.warming import WarmUps
from regatta.record.schema import FILE_NAME
from regatta.record.study import Study, parse_pause, parse_study
from regatta.record.study.limits import (
    CONTAINERS,
    MAX_CONNECTIONS,
    MAX_WARMUP_LIMIT_S,
    MAX_WIDTH_PERCENT,
    MIN_WIDTH_PERCENT,
)
from regatta.show.build import view_of
from regatta.show.exports import parse_exports, write_exports
from regatta.show.html import write_files
from regatta.show.text import printable
from regatta.show.versus_picture import check_picture, write_picture
from regatta.verbs.against import compared, find_stored
from regatta.verbs.asked import AskedOptions
from regatta.verbs.display import display_on
from regatta.verbs.output import EXPORT, with_option_groups
from regatta.verbs.servers.by_client import FEWER, fewer
from regatta.verbs.servers.preflight import (
    Seen,
    differing,
    faults,
    look_at,
    notes,
    p99_limit_ms,
    queue_notes,
    stalls,
)
from regatta.verbs.servers.servers import FEWEST, Server, read_images, same_commands
from regatta.verbs.servers.study_text import Wanted, fit, study_text
from regatta.verbs.session import HOOKS, RaceSession, analysis_of, interrupted
from regatta.verbs.versus_results import Results, VerdictOptions, chosen_form, show

NAME = "versus"
HOST = "{host}"
FEWEST_WARMUP_S = 5.0
REPORT_S = 3.0
"""Of --time: to analyse the race and write the report."""
AUTO, NETNS, LOOPBACK = OFFERED = ("auto", "netns", "loopback")


@with_option_groups
def versus(  # noqa: PLR0913, PLR0917  (one parameter an option)
    servers: Annotated[
        list[str] | None,
        typer.Argument(
            help="Commands with {port} in place of the port, NAME=COMMAND to name one, designs of "
            "regatta-server, or nginx.",
            show_default=False,
        ),
    ] = None,
    *,
    verdict: VerdictOptions,
    asked: AskedOptions,
    image: Annotated[
        list[str] | None,
        typer.Option(
            help="Container image to race, or NAME=IMAGE; all sides are containers then. "
            "Repeatable.",
            show_default=False,
        ),
    ] = None,
    image_port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65_535, help="Where images listen.", show_default="the port they expose"
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="last|FOLDER",
            help="Compare with a stored race of the same servers, at its rates. One server is "
            "enough.",
        ),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw the comparison: FILE.svg or FILE.png.")
    ] = None,
    connections: Annotated[
        str | None,
        typer.Option(
            help="Concurrent connections, or several numbers: 1,50,500.",
            show_default="50, or fewer if a server's listen queue is short",
        ),
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="A new connection for each request.")
    ] = False,
    warmup_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=MAX_WARMUP_LIMIT_S,
            help="Warm each process for at most so many seconds until it is steady; a server that "
            "is not cannot win. It is part of --time.",
            show_default="30, or a quarter of --time",
        ),
    ] = None,
    cold: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Race the first N requests after the start instead of warm servers.",
            show_default=False,
        ),
    ] = None,
    width: Annotated[
        float,
        typer.Option(
            help="Stop when each lead in server CPU is known to within this percentage.",
        ),
    ] = 5.0,
    limit: Annotated[
        str,
        typer.Option(
            "--time",
            "--budget",
            help="Stop after this time, but not before six blocks, or three where warming takes "
            "long: 90s, 10min.",
        ),
    ] = "2min",
    placement: Annotated[str, typer.Option(help="auto, netns or loopback.")] = AUTO,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the random order; chosen if not given.", min=0)
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="Write the study to this file and race nothing."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the ledger and report.", show_default="races/versus-TIME"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the figures as CSV.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the results as Markdown.")
    ] = False,
    export: Annotated[list[str] | None, EXPORT] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    r"""Compare servers in one line: which is better, and by how much.

    Starts each server once to check it, then races all at the same rate, half of what the weakest
    holds, with fresh processes in random order. Commands run in the current folder, without a
    shell. {host} is replaced by the address to listen on; if a server listens only on 127.0.0.1,
    the race is on loopback.

    With --base and --head, exit status: 0 no regression, 1 a regression, 2 not comparable,
    3 undecided.

    [bold]Examples[/]

      regatta versus './old --port {port}' './new --port {port}'
      regatta versus 'node app.js {port}' nginx epoll --path /api/item?id=7
      regatta versus a='./server {port}' b='./server --fast {port}' --short
      regatta versus 'python3 app.py {port}' 'node app.js {port}' --save mine.toml
      regatta versus './old {port}' './new {port}' --request posts.jsonl
      regatta versus './a {port}' './b {port}' --raw 'PING\r\n' --until 'PONG\r\n'
      regatta versus --base './old {port}' --head './new {port}' --budget 5min
      regatta versus --image mine:1.4 --image mine:1.5
      regatta versus 'python3 app.py {port}' --against last
    """
    session = RaceSession(as_json or as_csv or as_markdown, quiet)
    form = chosen_form(as_json, as_csv, as_markdown)
    started_s, time_s = time.monotonic(), parse_pause(limit, "--time")
    wanted = Wanted(
        path=asked.encoded_path,
        requests=asked.request,
        raw=asked.raw,
        until=asked.until,
        answers_may_differ=asked.may_differ,
        connections=Wanted.connections if connections is None else connection_counts(connections),
        short=short,
        width_percent=checked_width(width),
        placement=checked_placement(placement, bool(image)),
        time_s=time_s,
        warmup_limit_s=warmup_limit_s(warmup_limit, time_s),
        cold=cold,
        search_blocks=verdict.search_blocks(time_s),
        ready_timeout_s=asked.ready_timeout_s,
        p99_limit_ms=asked.p99_limit or Wanted.p99_limit_ms,
    )
    programs = discover()
    images = read_images(image or [], image_port)
    fewest = FEWEST if against is None else 1
    named = verdict.servers(servers or [], programs.designs, Path.cwd(), images, fewest)
    asked.check(named, programs.client)
    check_picture(picture)
    exports = parse_exports(export or [])

    def study_in(folder: Path, wanted: Wanted) -> Study:
        return parse_study(study_text(named, wanted, folder), programs.designs, folder)

    if save is not None:
        save_study(save, study_in(save.absolute().parent, wanted).toml)
        session.say(f"saved: {shown(save)}; race it with {called_with('race', shown(save))}")
        return
    stored = None
    if against is not None:
        counts = [(count,) for count in FEWER] if connections is None else [wanted.connections]
        every = [replace(wanted, connections=one) for one in counts]
        stored = find_stored(against, [study_in(Path.cwd(), one) for one in every], RACES)
        wanted = replace(wanted, rates=stored.rates)
    session.progress(f"looking at {', '.join(one.name for one in named)}")
    seen = look_at(verdict.looked_at(study_in(Path.cwd(), wanted)), programs)
    refuse(faults(seen))
    if verdict.asked and not asked.may_differ:
        verdict.check_answers(differing(seen))
    named = as_early(seen, named)
    lowers = connections is None and stored is None
    found, wanted = as_seen(seen, named, wanted, lowers, asked.p99_limit)
    found += [] if verdict.asked else same_commands(named)
    for line in found:
        session.progress(line)
    study = study_in(Path.cwd(), wanted)
    enough = verdict.enough(study) if verdict.asked else HOOKS.enough
    ends_s = started_s + max(time_s / 2, time_s - REPORT_S)

    def fitted(found: Study, warm_ups: WarmUps) -> Study:
        left_s = max(1.0, ends_s - time.monotonic())
        return fit(found, warm_ups, left_s, verdict.asked, session.progress)

    hooks = replace(HOOKS, enough=enough, unseen=lambda _: (), fit=fitted, ends_s=ends_s)
    options = Options(seed=seed, out=out or new_folder(NAME))
    folder = raced(
        lambda on_event: begin(study, options, programs, on_event, hooks), session, ends_s
    )
    analysis = analysis_of(folder)
    write_files(analysis, view_of(analysis), folder)
    write_exports(analysis, exports)
    if picture is not None:
        write_picture(analysis, picture)
    results = Results(
        folder=folder,
        analysis=analysis,
        servers=named,
        looked_at=[
            *found,
            *notes(seen, checked=not asked.may_differ),
            *look_notes(recorded_looks(analysis.environment)),
        ],
        verdict=verdict.verdict(folder / FILE_NAME, study, over=True) if verdict.asked else None,
        changed=None if stored is None else compared(stored, folder),
    )
    show(results, form, session)


def refuse(found: list[str]) -> None:
    """RegattaError if a server cannot race; a line for each."""
    for line in found[:-1]:
        typer.echo(f"regatta: {printable(line)}", err=True)
    if found:
        raise RegattaError(found[-1])


def raced(
    race: Callable[[Callable[[Event], None]], Path], session: RaceSession, ends_s: float
) -> Path:
    """Runs the race and returns its folder. After Ctrl-C the error says how to continue."""
    display = display_on(session.console, session.quiet)

    def on_event(event: Event) -> None:
        if isinstance(event, SearchStarted | Started):
            session.folder = event.about.folder
        if isinstance(event, Searched | TrialFinished):
            left_s = max(0.0, ends_s - time.monotonic())
            event = replace(event, left_s=min(event.left_s, left_s))
        display(event)

    try:
        with display:
            return race(on_event)
    except KeyboardInterrupt as error:
        raise interrupted(session.folder) from error


def as_early(seen: list[Seen], named: list[Server]) -> list[Server]:
    """With those marked that must be waited for until they answer."""
    early = {one.name for one in seen if one.was_early}
    early |= {AGAIN} if BASE in early else set()
    return [replace(one, was_early=one.name in early) for one in named]


def as_seen(
    seen: list[Seen], named: list[Server], wanted: Wanted, lowers: bool, limit_ms: float | None
) -> tuple[list[str], Wanted]:
    """The race that suits all servers, and a note for each change.

    `lowers`: the number of connections may be lowered; `limit_ms`: of p99, if it is asked for.
    """
    placed, wanted = placed_where_reached(seen, named, wanted)
    queues, wanted = over_what_all_take(seen, wanted, lowers)
    limited: list[str] = []
    if limit_ms is None and wanted.rates is None:
        limit_ms, note = p99_limit_ms(seen)
        wanted = replace(wanted, p99_limit_ms=limit_ms)
        limited = [note] if note else []
    return [*placed, *queues, *limited], wanted


def placed_where_reached(
    seen: list[Seen], named: list[Server], wanted: Wanted
) -> tuple[list[str], Wanted]:
    """Chooses loopback, with a note, if a server listens nowhere else."""
    configurable = {
        one.name for one in named if one.design or any(HOST in word for word in one.command)
    }
    confined = [one.name for one in seen if one.only_on_loopback and one.name not in configurable]
    if not confined or wanted.placement in (LOOPBACK, CONTAINERS):
        return [], wanted
    names = ", ".join(confined)
    if wanted.placement != AUTO:
        raise UsageError(
            f"{names} listens only on 127.0.0.1, which clients of another network cannot reach; "
            "let it listen on {host} or 0.0.0.0, or use --placement loopback"
        )
    note = (
        f"raced on loopback, as {names} listens only on 127.0.0.1; {{host}} in a command is "
        "replaced by the address to listen on"
    )
    return [note], replace(wanted, placement=LOOPBACK)


def over_what_all_take(seen: list[Seen], wanted: Wanted, lowers: bool) -> tuple[list[str], Wanted]:
    """Fewer connections, with a note, if a server cannot take all at once."""
    few = [one.at_once for one in seen if one.queue_is_short or one.leaves_waiting]
    raced_over = fewer(min(few)) if few and lowers else None
    if raced_over is None:
        refuse(stalls(seen))
        return list(queue_notes(seen, None)), wanted
    return list(queue_notes(seen, raced_over)), replace(wanted, connections=(raced_over,))


def warmup_limit_s(wanted: float | None, time_s: int) -> float:
    """With less than the fewest, no server could be shown to be warm."""
    if wanted is not None:
        return wanted
    return min(Wanted.warmup_limit_s, max(FEWEST_WARMUP_S, time_s / 4))


def save_study(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError as error:
        raise UsageError(f"{file} exists; name another file, or remove it") from error
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror or error}") from error


def checked_width(width: float) -> float:
    if not MIN_WIDTH_PERCENT <= width <= MAX_WIDTH_PERCENT:
        raise UsageError(
            f"--width is {width:g}; it must be from {MIN_WIDTH_PERCENT:g} to {MAX_WIDTH_PERCENT:g}"
        )
    return width


def checked_placement(placement: str, images: bool) -> str:
    if images and placement == AUTO:
        return CONTAINERS
    if images:
        raise UsageError(f"--placement is {placement}, but images run in containers; remove it")
    if placement not in OFFERED:
        raise UsageError(f"--placement is {placement}; it must be one of {', '.join(OFFERED)}")
    return placement


def connection_counts(text: str) -> tuple[int, ...]:
    """Parses `1,50,500`."""
    words = [word.strip() for word in text.split(",")]
    counts = [int(word) for word in words if word.isascii() and word.isdigit()]
    if len(counts) < len(words) or not all(1 <= count <= MAX_CONNECTIONS for count in counts):
        raise UsageError(
            f"--connections is {text}; write numbers from 1 to {MAX_CONNECTIONS}, as 1,50,500"
        )
    return tuple(dict.fromkeys(counts))

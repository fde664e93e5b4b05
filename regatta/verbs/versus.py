"""`regatta versus`: race servers that are given on the command line."""

import os
import time
from dataclasses import replace
from pathlib import Path

import typer

from regatta.errors import RegattaError, UsageError
from regatta.judge.judged import DEFAULT
from regatta.judge.regression import AGAIN, BASE, HEAD
from regatta.measure.places.placement import halves
from regatta.measure.programs import called_with, discover, shown
from regatta.measure.race.look import look_notes, recorded_looks
from regatta.measure.race.options import Options
from regatta.measure.race.race import begin
from regatta.measure.trial.answers import differences
from regatta.measure.trial.warming import WarmUps
from regatta.record.files import new_folder
from regatta.record.study import Study, parse_pause
from regatta.record.study.cpus import cpus_option
from regatta.record.study.limits import (
    CONTAINERS,
    MAX_CONNECTIONS,
    MAX_CPUS,
    MAX_EVENTS,
    MAX_STREAMS,
    MAX_WARMUP_LIMIT_S,
)
from regatta.show.text import printable
from regatta.verbs.output import CLIENT_CPUS, QUIET, SERVER_CPUS, WHY, YES, options, permit
from regatta.verbs.servers import look
from regatta.verbs.servers.client import fewer
from regatta.verbs.servers.servers import (
    Server,
    needs_of,
    read_images,
    read_servers,
    same_commands,
    scaled,
    with_accounts,
)
from regatta.verbs.servers.wanted import ANY, SEARCH_BLOCKS, Wanted, fit, study_of
from regatta.verbs.session import HOOKS, RaceSession, raced, written
from regatta.verbs.versus_results import Versions, check, show

NAME = "versus"
HOST = "{host}"
FEWEST_WARMUP_S = 5.0
REPORT_S = 3.0
"""Of --time: to analyse the race and write the report."""
AUTO, NETNS, LOOPBACK = OFFERED = ("auto", "netns", "loopback")
PANEL, NEEDS = "A verdict for CI", "What the servers need"
RUNS = "Servers that run already"
SEARCH_EACH_S, MOST_SEARCHES = 20.0, 12
"""Of the budget for a block of searches, which takes some 8 s, and how many are enough."""


@options(
    servers=typer.Argument(
        help="Commands with {port} in place of the port, NAME=COMMAND to name one; addresses of "
        "servers that run already, as http://10.0.0.5:8080; designs of regatta-server, or nginx.",
        show_default=False,
    ),
    base=typer.Option(
        metavar="CMD",
        help="The version before a change, with {port} in it.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
    head=typer.Option(
        metavar="CMD",
        help="The version after it. --base races twice: its difference from itself is the floor.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
    fail_over=typer.Option(
        metavar="PERCENT",
        help="Exit status 1 if head is shown to be worse than base by more than this, in CPU per "
        "request, p50, p99 or the rate that it holds; 0 if it is shown not to be, in any; 3 if "
        "neither. 2% alone is of cpu; the others have their defaults. A difference of just this "
        "much stays undecided: to catch 5%, say 2%.",
        rich_help_panel=PANEL,
    ),
    path="Path of the requests to commands; /café becomes /caf%C3%A9.",
    http2="Ask in HTTP/2, over TLS where a server wants it; without it, only where it must be.",
    streams=typer.Option(
        min=1,
        max=MAX_STREAMS,
        help="In HTTP/2, requests at once on each connection: 50 --connections with 10 streams "
        "are 5.",
        show_default="1",
    ),
    request='JSON lines, sent by "weight": {"method": "POST", "path": "/items", "body": "x"}.',
    body="A file that is posted to --path.",
    events=typer.Option(
        min=0,
        max=MAX_EVENTS,
        help="Answers are streams of server-sent events: leave each after so many, 0 at its end. "
        "1 compares the times to the first event.",
        show_default=False,
    ),
    grpc="An encoded message, sent to the gRPC method /PACKAGE.SERVICE/METHOD of --path.",
    websocket="Send WebSocket messages, that of --body or `hello`, which must come back.",
    raw=r"Text for servers of another protocol, with \r \n \t \xHH \\.",
    until=typer.Option(metavar="REGEX", help="Where the reply to --raw ends."),
    answers_may_differ="Race servers that answer differently, or each time, unchecked.",
    env=typer.Option(
        metavar="K=V",
        help="A variable of the servers' environment. Repeatable.",
        rich_help_panel=NEEDS,
        show_default=False,
    ),
    cwd=typer.Option(
        metavar="DIR",
        help="Where commands are started; shipped contenders have folders of their own.",
        exists=True,
        file_okay=False,
        rich_help_panel=NEEDS,
        show_default="the current folder",
    ),
    shell=typer.Option(
        "--shell", help="Let sh read the commands.", rich_help_panel=NEEDS, show_default=False
    ),
    beside=typer.Option(
        "--with",
        metavar="NAME=CMD",
        help="A program that runs beside each server, as a database: its {port} is the servers' "
        "{NAME}, and its CPU time has a column of its own. Repeatable.",
        rich_help_panel=NEEDS,
        show_default=False,
    ),
    setup=typer.Option(
        metavar="CMD",
        help="What sh runs before each start of a server, once those beside it are ready: to fill "
        "a database.",
        rich_help_panel=NEEDS,
        show_default=False,
    ),
    teardown=typer.Option(
        metavar="CMD",
        help="What sh runs after each stop.",
        rich_help_panel=NEEDS,
        show_default=False,
    ),
    ready=typer.Option(
        metavar="HOW",
        help="When a server is ready: port (it listens), answer (it answers), http:/PATH (that is "
        "answered), log:TEXT (it prints that). NAME=HOW: when one of --with is, by port or "
        "log:TEXT. Repeatable.",
        rich_help_panel=NEEDS,
        show_default="port, or answer if that is later",
    ),
    ready_timeout=typer.Option(help="How long a server may start: 60s.", show_default="20s"),
    p99_limit=typer.Option(
        metavar="MS",
        help="The p99 up to which a rate is held.",
        show_default="50, or more if an answer takes over 10 without load",
    ),
    account=typer.Option(
        metavar="NAME=WHOSE",
        help="Whose CPU time is that of a server that runs already: pid:1234 (with what it "
        "started), unit:NAME of systemd, container:NAME or cgroup:/PATH. Repeatable.",
        rich_help_panel=RUNS,
        show_default="the process that listens there, if it is on this host",
    ),
    yes=typer.Option("--yes", help=YES, rich_help_panel=RUNS),
    image=typer.Option(
        help="Container image to race, or NAME=IMAGE; all sides are containers then. Repeatable.",
        show_default=False,
    ),
    image_port=typer.Option(
        min=1, max=65_535, help="Where images listen.", show_default="the port they expose"
    ),
    connections=typer.Option(
        help="Concurrent connections, or several numbers: 1,50,500.",
        show_default="50, or fewer if a server's listen queue is short",
    ),
    short="A new connection for each request.",
    warmup_limit=typer.Option(
        min=0,
        max=MAX_WARMUP_LIMIT_S,
        help="Warm each process for at most so many seconds until it is steady; a server that is "
        "not cannot win. It is part of --time.",
        show_default="30, or a quarter of --time",
    ),
    cold=typer.Option(
        min=1,
        metavar="N",
        help="Race the first N requests after the start instead of warm servers.",
        show_default=False,
    ),
    why=WHY,
    width="Stop when each lead in server CPU is known to within this percentage.",
    limit=typer.Option(
        "--time",
        "--budget",
        help="Stop after this time, but not before six blocks, or three where warming takes long: "
        "90s, 10min.",
    ),
    placement="auto, netns or loopback.",
    server_cpus=typer.Option(help=SERVER_CPUS, show_default="one, or half of more than four"),
    client_cpus=typer.Option(help=CLIENT_CPUS, show_default="the others"),
    scale=typer.Option(
        metavar="N,M",
        help="Race each command on N and on M of the server's CPUs, as NAME-N and NAME-M: one CPU "
        "or all?",
        show_default=False,
    ),
    seed=typer.Option(help="Seed of the random order; chosen if not given.", min=0),
    save="Write the study to this file and race nothing.",
    out=typer.Option(help="Folder for the ledger and report.", show_default="races/versus-TIME"),
    json="Print the results as JSON.",
    markdown="Print the results as Markdown.",
    quiet=QUIET,
)
def versus(  # noqa: PLR0913, PLR0914, PLR0917  (one parameter an option)
    servers: list[str] | None = None,
    base: str | None = None,
    head: str | None = None,
    fail_over: str = DEFAULT,
    path: str = ANY,
    http2: bool = False,
    streams: int | None = None,
    request: Path | None = None,
    body: Path | None = None,
    events: int | None = None,
    grpc: Path | None = None,
    websocket: bool = False,
    raw: str | None = None,
    until: str | None = None,
    answers_may_differ: bool = False,
    env: list[str] | None = None,
    cwd: Path | None = None,
    shell: bool = False,
    beside: list[str] | None = None,
    setup: str | None = None,
    teardown: str | None = None,
    ready: list[str] | None = None,
    ready_timeout: str | None = None,
    p99_limit: float | None = None,
    account: list[str] | None = None,
    yes: bool = False,
    image: list[str] | None = None,
    image_port: int | None = None,
    connections: str | None = None,
    short: bool = False,
    warmup_limit: float | None = None,
    cold: int | None = None,
    why: bool = False,
    width: float = 5.0,
    limit: str = "2min",
    placement: str = AUTO,
    server_cpus: str | None = None,
    client_cpus: str | None = None,
    scale: str | None = None,
    seed: int | None = None,
    save: Path | None = None,
    out: Path | None = None,
    json: bool = False,
    markdown: bool = False,
    quiet: bool = False,
) -> None:
    r"""Compare servers in one line: which is better, and by how much.

    Starts each command once to check it, then races all at the same rate, half of what the weakest
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
      regatta versus './a {port}' --scale 1,4 --server-cpus 0-3
      regatta versus http://127.0.0.1:8080 mine='./new {port}' --path /api
      regatta versus './a {port}' './b {port}' --streams 10 --connections 100
      regatta versus './a {port}' './b {port}' --path /stream --events 1
      regatta versus a=http://10.0.0.5:80 b=http://10.0.0.6:80 --yes
      regatta versus './a {port} {db}' './b {port} {db}' --with 'db=redis {port}'
    """
    started_s = time.monotonic()
    session = RaceSession(json or markdown, quiet)
    if json and markdown:
        raise UsageError("--json and --markdown cannot be combined; choose one")
    versions, time_s = Versions.read(base, head, fail_over), parse_pause(limit, "--time")
    wanted = Wanted(
        path=path,
        http2=http2 or streams is not None,
        streams=streams,
        connections=numbers("--connections", connections, MAX_CONNECTIONS) or Wanted.connections,
        short=short,
        why=why,
        width_percent=width,
        placement=checked_placement(placement, bool(image)),
        **cpus_of_sides(server_cpus, client_cpus, divides=save is None),
        time_s=time_s,
        requests=request,
        body=body,
        events=events,
        grpc=grpc,
        websocket=websocket,
        raw=raw,
        until=until,
        # With less than the fewest, no server could be shown to be warm.
        warmup_limit_s=min(Wanted.warmup_limit_s, max(FEWEST_WARMUP_S, time_s / 4))
        if warmup_limit is None
        else warmup_limit,
        cold=cold,
        answers_may_differ=answers_may_differ,
        # A verdict on what is held gets a good third of the time.
        search_blocks=max(SEARCH_BLOCKS, min(MOST_SEARCHES, round(time_s / SEARCH_EACH_S)))
        if versions
        else SEARCH_BLOCKS,
        ready_timeout_s=None
        if ready_timeout is None
        else max(1, parse_pause(ready_timeout, "--ready-timeout")),
        p99_limit_ms=p99_limit,
        needs=needs_of(env, beside, ready, {"setup": setup, "teardown": teardown}),
    )
    programs, here, counts = discover(), Path.cwd(), numbers("--scale", scale, MAX_CPUS)
    started_in = here / (cwd or "")
    images = read_images(image or [], image_port)
    if versions:
        others = [*(servers or []), *(each.name for each in images)]
        named = versions.servers(others, programs, started_in, shell)
    else:
        named = read_servers(servers or [], programs.designs, started_in, images, shell)
    named = with_accounts(scaled(named, counts), account or [])
    permit((server.address for server in named), yes)
    wanted.check(named, programs.client)

    def study_in(folder: Path, wanted: Wanted) -> Study:
        return study_of(named, wanted, programs.designs, folder)

    if save is not None:
        save_study(save, study_in(save.absolute().parent, wanted).toml)
        session.say(f"saved: {shown(save)}; race it with {called_with('race', shown(save))}")
        return
    session.progress(f"looking at {', '.join(server.name for server in named)}")
    study = study_in(here, wanted)
    # What is started once before the race: the base is, so base again need not be.
    seen = look.look_at(
        study.but(cells=tuple(cell for cell in study.cells if cell.contender != AGAIN)), programs
    )
    refuse(look.faults(seen), *(f"{of.name}: {line}" for of in seen for line in of.log))
    differs = differences({server.name: server.expected for server in seen})
    if versions and not answers_may_differ and HEAD in differs:
        raise RegattaError(
            f"not comparable: head {differs[HEAD]}; race them all the same with "
            "--answers-may-differ"
        )
    named = as_looked_at(seen, named)
    found, wanted = as_seen(seen, named, wanted, connections is None)
    found += [] if versions else same_commands(named)
    for line in found:
        session.progress(line)
    study = study_in(here, wanted)
    ends_s = started_s + max(time_s / 2, time_s - REPORT_S)

    def fitted(found: Study, warm_ups: WarmUps) -> Study:
        left_s = max(1.0, ends_s - time.monotonic())
        return fit(found, warm_ups, left_s, versions is not None, session.progress)

    enough = versions.enough(study) if versions else HOOKS.enough
    hooks = replace(HOOKS, enough=enough, unseen=lambda _: (), fit=fitted, ends_s=ends_s)
    given = Options(seed=seed, out=out or new_folder(NAME))
    folder = raced(lambda tell: begin(study, given, programs, tell, hooks), session, ends_s)
    analysis = written(folder)
    found += [
        *look.notes(seen, checked=not answers_may_differ),
        *look_notes(recorded_looks(analysis.environment)),
    ]
    verdict = versions.verdict(folder, study, over=True) if versions else None
    show(analysis, found, verdict, session, markdown)
    if not session.as_json:
        session.say(f"report: {shown(folder) / 'report.html'}")
    if verdict is not None:
        raise typer.Exit(verdict.exit_status)
    check(folder, analysis, [server.name for server in named])


def refuse(found: list[str], *log: str) -> None:
    """RegattaError if a server cannot race; a line for each, after what they printed."""
    for line in log:
        typer.echo(f"  {printable(line)}", err=True)
    for line in found[:-1]:
        typer.echo(f"regatta: {printable(line)}", err=True)
    if found:
        raise RegattaError(found[-1])


def as_looked_at(seen: list[look.Seen], named: list[Server]) -> list[Server]:
    """With what they speak, and those marked that must be waited for until they answer."""
    by_name = {of.name: of for of in seen}
    if BASE in by_name:
        by_name[AGAIN] = by_name[BASE]
    return [
        replace(
            server, was_early=by_name[server.name].was_early, speaks=by_name[server.name].speaks
        )
        for server in named
    ]


def as_seen(
    seen: list[look.Seen], named: list[Server], wanted: Wanted, lowers: bool
) -> tuple[list[str], Wanted]:
    """The race that suits all servers, and a note for each change.

    `lowers`: the number of connections may be lowered.
    """
    found: list[str] = []
    told = {
        of.name
        for of in named
        if of.design or of.address or any(HOST in word for word in of.command)
    }
    confined = [of.name for of in seen if of.only_on_loopback and of.name not in told]
    if confined and wanted.placement not in (LOOPBACK, CONTAINERS):
        names = ", ".join(confined)
        if wanted.placement != AUTO:
            raise UsageError(
                f"{names} listens only on 127.0.0.1, which clients of another network cannot "
                "reach; let it listen on {host} or 0.0.0.0, or use --placement loopback"
            )
        found.append(
            f"raced on loopback, as {names} listens only on 127.0.0.1; {{host}} in a command is "
            "replaced by the address to listen on"
        )
        wanted = replace(wanted, placement=LOOPBACK)
    few = [server.at_once for server in seen if server.queue_is_short or server.leaves_waiting]
    raced_over = fewer(min(few)) if few and lowers else None
    if raced_over is None:
        refuse(look.stalls(seen))
    else:
        wanted = replace(wanted, connections=(raced_over,))
    found += look.queue_notes(seen, raced_over)
    if wanted.p99_limit_ms is None:
        limit_ms, note = look.p99_limit_ms(seen)
        wanted = replace(wanted, p99_limit_ms=limit_ms)
        found += [note] if note else []
    return found, wanted


def save_study(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError as error:
        raise UsageError(f"{file} exists; name another file, or remove it") from error
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror or error}") from error


def checked_placement(placement: str, images: bool) -> str:
    if images and placement == AUTO:
        return CONTAINERS
    if images:
        raise UsageError(f"--placement is {placement}, but images run in containers; remove it")
    if placement not in OFFERED:
        raise UsageError(f"--placement is {placement}; it must be one of {', '.join(OFFERED)}")
    return placement


def cpus_of_sides(
    server: str | None, client: str | None, divides: bool = True
) -> dict[str, tuple[int, ...] | None]:
    """Arguments of Wanted. `divides`: this machine's CPUs, if none are named."""
    sides = cpus_option(server, "--server-cpus"), cpus_option(client, "--client-cpus")
    if divides and sides == (None, None):
        sides = halves(sorted(os.sched_getaffinity(0)))
    return dict(zip(("server_cpus", "client_cpus"), sides, strict=True))


def numbers(option: str, text: str | None, most: int) -> tuple[int, ...]:
    """Parses `1,50,500`; empty if it is not given."""
    words = [word.strip() for word in text.split(",")] if text is not None else []
    counts = [int(word) for word in words if word.isascii() and word.isdigit()]
    if len(counts) < len(words) or not all(1 <= count <= most for count in counts):
        raise UsageError(f"{option} is {text}; write numbers from 1 to {most}, as 1,50,500")
    return tuple(dict.fromkeys(counts))

"""A race: from a study to a complete ledger. It tells what happens as plain data, and draws none.

`begin` makes the ledger with the whole plan, `reopen` finds what a stopped race had planned, and
`run` does what the plan still lacks; a race that was never stopped is one that was resumed once.
"""

from __future__ import annotations

import fcntl
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regatta import doctor
from regatta.analysis.statistics.blocks_needed import too_few_note
from regatta.calibrate import store
from regatta.errors import RegattaError, StudyError, UsageError
from regatta.ledger import write as ledger
from regatta.ledger.write import Ledger
from regatta.machine import environment, perf, placement, steering
from regatta.machine.cgroup import NO_GROUPS
from regatta.machine.programs import Programs, find_tool
from regatta.race.events import About, Finished, SearchStarted, Started, Tell
from regatta.race.matched.held import held_by
from regatta.race.matched.run import find_cells
from regatta.race.resume import keep_accounts, keep_sittings
from regatta.race.sittings import run_sittings
from regatta.study import WINDOW, Study, matched_cells, parse_study, with_rates
from regatta.study.claims.published import recorded_claims
from regatta.study.plan import Alone, Planned, make_plan
from regatta.study.published import read_published
from regatta.trial.canary import canary_on
from regatta.trial.rig import Rig

RACES = Path("races")
SCRATCH = ".trial"
MAX_CHOSEN_SEED = 2**31 - 1


@dataclass(frozen=True)
class Options:
    """What the command line may ask for in place of what the study says."""

    out: Path | None = None
    seed: int | None = None
    blocks: int | None = None
    sittings: int | None = None
    pause_s: int | None = None
    placement: str | None = None
    server_cpus: tuple[int, ...] | None = None
    client_cpus: tuple[int, ...] | None = None
    steering: str | None = None
    use_perf: bool = True


@dataclass(frozen=True)
class Setting:
    """What a race was begun with and keeps when it is resumed."""

    study: Study
    seed: int
    use_perf: bool


def new_folder(name: str) -> Path:
    """races/NAME-TIME; a second race within the same second gets a number."""
    stem = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder = RACES / stem
    number = 2
    while folder.exists():
        folder = RACES / f"{stem}-{number}"
        number += 1
    return folder


def apply(study: Study, options: Options) -> Study:
    """The study with what the command line says in place of it."""
    sittings = options.sittings or study.sittings
    return replace(
        study,
        blocks=study.blocks if options.blocks is None else options.blocks,
        # Whoever says how many blocks or sittings wants that many.
        width=study.width if options.blocks is None and sittings == 1 else None,
        sittings=sittings,
        pause_s=study.pause_s if options.pause_s is None else options.pause_s,
        placement=options.placement or study.placement,
        server_cpus=options.server_cpus or study.server_cpus,
        client_cpus=options.client_cpus or study.client_cpus,
        steering=options.steering or study.steering,
    )


def choose_seed(study: Study, options: Options) -> int:
    for seed in (options.seed, study.seed):
        if seed is not None:
            return seed
    return random.SystemRandom().randint(0, MAX_CHOSEN_SEED)


def begin(study: Study, options: Options, programs: Programs, tell: Tell) -> Path:
    """Starts a new race and runs all of it; returns its folder."""
    study = apply(study, options)
    setting = Setting(study, choose_seed(study, options), options.use_perf)
    folder = (options.out or new_folder(study.name)).absolute()
    if (folder / ledger.FILE_NAME).exists():
        raise UsageError(
            f"{folder} holds a race already; resume it with `regatta race --resume {folder}`, "
            "or name another --out"
        )
    check_programs(study)
    known = {"baseline": read_baseline(study), "claims": recorded_claims(study)}
    with placed(study) as place, held(folder):
        plan = plan_of(study, setting.seed)
        with ledger.create(folder, study, plan, setting.seed, place.kind) as book:
            book.record_environment({"use_perf": setting.use_perf, **known})
            book.record_environment({"calibration": store.for_ledger()})
            run(book, setting, programs, place, tell)
    return folder


def placed(study: Study) -> placement.Placement:
    return placement.make_placement(
        study.placement, study.server_cpus, study.client_cpus, study.steering
    )


def plan_of(study: Study, seed: int) -> list[Planned]:
    blocks = study.blocks if study.width is None else study.width.most_blocks
    beside = (number for number, cell in enumerate(study.cells, 1) if cell.scope == WINDOW)
    alone = Alone(study.alone_blocks, tuple(beside))
    counted_blocks = study.counted_blocks
    return make_plan(len(study.cells), blocks, counted_blocks, seed, study.sittings, alone)


def check_programs(study: Study) -> None:
    """Somebody who names a server wants it raced: one that is not there is a mistake."""
    for name in sorted({cell.contender for cell in study.cells} & study.contenders.keys()):
        program = study.contenders[name].words("", 0, (), study.folder)[0]
        if find_tool(program) is None:
            raise StudyError(
                f"`contenders.{name}.command`: there is no program {program}; install or build it, "
                "or correct the path ({folder} is the study's folder)"
            )


def read_baseline(study: Study) -> dict[str, Any] | None:
    """What the ledger keeps of `[baseline]`: a report needs nothing but the ledger."""
    baseline = study.baseline
    if baseline is None:
        return None
    published = None
    if baseline.published is not None:
        published = read_published(study.folder / baseline.published)
        published["at"] = baseline.published_at
    return {"contender": baseline.contender, "published": published}


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Holds the folder against a second race in it; the kernel lets go when the lab ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise RegattaError(
            f"cannot use the folder {folder}: {error.strerror}; name another with --out"
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise UsageError(
            f"another regatta is racing in {folder} now; wait for its end, or use another folder"
        ) from error
    finally:
        os.close(handle)


def reopen(folder: Path, study: Study | None, programs: Programs, tell: Tell) -> Path:
    """Goes on with a race that was stopped, in the place where it was begun; returns its folder."""
    folder = folder.absolute()
    with ledger.open_ledger(folder / ledger.FILE_NAME) as book, held(folder):
        text = book.meta("study_toml") or ""
        if study is not None and study.toml != text:
            raise UsageError(
                f"{folder} is a race of another study, or the study was changed since; resume it "
                f"by its folder: `regatta race --resume {folder}`, or start a new race"
            )
        folder_then = Path(book.meta("study_folder") or "")
        own = parse_study(text, programs.designs, folder_then)
        book.check_searches(own)
        if book.settled():
            own = settled(book, own)
            book.check_cells(own)
        setting = Setting(
            study=restore_place(keep_sittings(book, own), book),
            seed=int(book.meta("seed") or 0),
            use_perf=book.environment("use_perf") is not False,
        )
        if book.settled() and not book.left():
            run_nothing(book, tell)
            return folder
        study = setting.study
        with placed(study) as place:
            run(book, setting, programs, place, tell)
    return folder


def settled(book: Ledger, study: Study) -> Study:
    """The study with the cells that its searches led to."""
    held = held_by(matched_cells(study.cells), book.probes(), study.search_blocks)
    return replace(study, cells=with_rates(study.cells, held))


def restore_place(study: Study, book: Ledger) -> Study:
    """The study on the CPUs and in the network that the race was begun with."""
    place = book.environment("placement")
    kind = book.placement() or study.placement
    if not isinstance(place, dict):
        return replace(study, placement=kind)
    return replace(
        study,
        placement=kind,
        server_cpus=tuple(place["server_cpus"]),
        client_cpus=tuple(place["client_cpus"]),
        steering=place.get("steering", steering.NONE),
    )


def run_nothing(book: Ledger, tell: Tell) -> None:
    """Every trial is there: only the end may lack (the lab died just before it)."""
    if book.meta("finished_at") is None:
        book.finish()
    tell(Finished(book.path.parent, tuple(book.failures()), 0.0))


def run(
    book: Ledger, setting: Setting, programs: Programs, place: placement.Placement, tell: Tell
) -> None:
    """Runs the trials that the plan still lacks, one after the other."""
    study = setting.study
    found = perf.probe(study.events) if setting.use_perf else perf.without_perf(None)
    found = keep_accounts(book, place, found)
    spoilers = doctor.serious(situation(study, place))
    if book.environment("placement") is None:
        book.record_environment(environment.describe(study, programs, found, place, setting.seed))
        book.record_environment({"doctor": spoilers or "nothing serious"})
    rig = Rig(
        programs=programs,
        placement=place,
        perf=found,
        events=study.events,
        warmup_rounds=study.warmup_rounds,
        scratch=book.path.parent / SCRATCH,
        contenders=study.contenders,
        folder=study.folder,
        seed=setting.seed,
        disturbance_limit_percent=study.disturbance_limit_percent,
    )
    told = (*notes(study, place, found), *doctor.warnings(spoilers))
    about = About(
        name=study.name,
        title=study.title,
        folder=book.path.parent,
        seed=setting.seed,
        placement=place.kind,
        server_cpus=place.server.cpus,
        client_cpus=place.client.cpus,
    )
    if not book.settled():
        tell(SearchStarted(about, len(matched_cells(study.cells)), study.search_blocks, told))
        told = ()
        study = replace(study, cells=find_cells(book, study, rig, tell))
        book.settle(study.cells, plan_of(study, setting.seed), place.kind)
    trials = len(book.plan())
    tell(Started(about, trials, trials - len(book.left()), told, study.sittings))
    started_s = time.monotonic()
    with canary_on(programs.canary, place.server.cpus) as canary:
        run_sittings(book, replace(rig, canary=canary), study, tell)
    book.finish()
    elapsed_s = time.monotonic() - started_s
    tell(Finished(book.path.parent, tuple(book.failures()), elapsed_s))


def situation(study: Study, place: placement.Placement) -> doctor.Situation:
    """What the doctor must know of the race."""
    most = max(cell.connections + cell.idle + cell.slow for cell in study.cells)
    groups = place.server.groups is not None
    return doctor.Situation(
        place.server.cpus, place.client.cpus, place.kind, most, groups, place.steering
    )


def notes(study: Study, place: placement.Placement, found: perf.Perf) -> tuple[str, ...]:
    """What is not as the study, or a person, may have expected, and what it will not see."""
    from regatta.analysis.foretell import foretold  # noqa: PLC0415  (heavy: statistics)

    without = [f"{name} is left out: {reason}" for name, reason in study.left_out.items()]
    clocks = None if place.server.groups else NO_GROUPS
    verdicts = (too_few_note(study), foretold(study))
    told = (place.note, place.steering.note, clocks, found.note, *verdicts)
    return tuple(note for note in (*without, *told) if note)

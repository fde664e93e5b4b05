"""A race: from a study to a complete ledger. It reports events as plain data and draws nothing."""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from regatta.errors import UsageError
from regatta.measure import environment
from regatta.measure.accounts import energy
from regatta.measure.accounts.cgroup import NO_GROUPS
from regatta.measure.perf import Perf, common, probe
from regatta.measure.places.sides import Placement
from regatta.measure.programs import Programs, called_with, shown
from regatta.measure.race.events import About, Display, Finished, SearchStarted, Started, Tell
from regatta.measure.race.find_rates import find_cells
from regatta.measure.race.look import expected_by, look, look_notes
from regatta.measure.race.options import NO_HOOKS, Hooks, Options, apply, choose_seed
from regatta.measure.race.place_sides import check_programs, place_sides
from regatta.measure.race.resume import (
    NUMBERS,
    SWITCHES,
    keep_accounts,
    keep_options,
    left_out_then,
    restore_placement,
    settled,
)
from regatta.measure.race.sittings import run_sittings
from regatta.measure.trial.recorders import why_no_trace
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.warming import WarmUps
from regatta.record.cell import WINDOW, at_last_step, matched_cells
from regatta.record.files import Start, create, locked, new_folder, open_ledger
from regatta.record.inputs import Baseline, RaceInputs
from regatta.record.read import read_meta
from regatta.record.records import ALONE, SAMPLED, TRACED, PlannedTrial
from regatta.record.schema import FILE_NAME
from regatta.record.study import Study, leave_out, parse_study
from regatta.record.study.published import read_published, recorded_claims
from regatta.record.study.race import make_plan
from regatta.record.write import Ledger

SCRATCH = ".trial"


def given_to(study: Study, hooks: Hooks) -> RaceInputs:
    """What the ledger holds of the study's claims and figures, as its files may change."""
    baseline = None
    if study.baseline is not None:
        table = None
        if study.baseline.published is not None:
            table = read_published(study.folder / study.baseline.published)
            table = replace(table, at=study.baseline.published_at)
        baseline = Baseline(study.baseline.contender, table)
    return RaceInputs(recorded_claims(study), baseline, hooks.calibration())


def begin(
    study: Study, options: Options, programs: Programs, tell: Tell, hooks: Hooks = NO_HOOKS
) -> Path:
    """Starts a new race, whose ledger has the whole plan, and runs all of it; returns its
    folder."""
    study = apply(study, options).but(seed=choose_seed(study, options))
    folder = (options.out or new_folder(study.name)).absolute()
    if (folder / FILE_NAME).exists():
        raise UsageError(
            f"{folder} already holds a race; choose another --out, or resume it: {resuming(folder)}"
        )
    check_programs(study)
    given = given_to(study, hooks)
    with place_sides(study, programs) as placement, locked(folder):
        programs = placement.programs(programs)
        study = leave_out(study, placement.missing(programs))
        about = about_race(study, options.use_perf)
        plan = plan_of(study, no_trace_of(study, placement, programs))
        start = Start(about, given, study.cells, plan, placement.kind)
        with create(folder, start) as ledger, scratch_removed(folder):
            run(ledger, study, programs, placement, tell, hooks)
    return folder


@contextmanager
def scratch_removed(folder: Path) -> Iterator[None]:
    """At the end, however it ends."""
    try:
        yield
    finally:
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)


def resuming(folder: Path) -> str:
    """The command that resumes the race in this folder."""
    return called_with("race", "--resume", shown(folder))


def about_race(study: Study, use_perf: bool) -> dict[str, str]:
    """The facts about a race that its ledger holds from the start."""
    return {
        "study_name": study.name,  # also in study_toml; here for SQL queries
        "study_toml": study.toml,
        "study_folder": str(study.folder),
        "seed": str(study.seed),
        **settings_of(study),
        "ends_by_width": yes_or_no(study.width_percent is not None),
        "use_perf": yes_or_no(use_perf),
        "disturbance_limit_percent": f"{study.disturbance_limit_percent:g}",
    }


def settings_of(study: Study) -> dict[str, str]:
    numbers = {name: str(getattr(study, name)) for name in NUMBERS}
    return numbers | {name: yes_or_no(getattr(study, name)) for name in SWITCHES}


def fitted(study: Study) -> dict[str, str]:
    """What the ledger records anew, once the warm-ups are known."""
    return {
        **settings_of(study),
        "most_blocks": str(study.most_blocks or study.blocks),
        "durations_s": json.dumps([cell.duration_s for cell in study.cells]),
    }


def yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def plan_of(study: Study, no_trace: str | None = None) -> list[PlannedTrial]:
    """`no_trace`: why requests cannot be followed, if they cannot."""
    blocks = study.most_blocks or study.blocks
    window = [number for number, cell in enumerate(study.cells, 1) if cell.scope == WINDOW]
    of_last = at_last_step(study.cells)
    last = [number for number in window if study.cells[number - 1] in of_last]
    # Slow connections ask for a byte at a time, and are no requests.
    followed = [number for number in last if not study.cells[number - 1].slow]
    return make_plan(
        len(study.cells),
        blocks,
        study.counted_blocks,
        study.seed or 0,
        study.sittings,
        study.alone_blocks,
        study.sampled_blocks,
        no_trace is None,
        {ALONE: window, SAMPLED: last, TRACED: followed},
    )


def reopen(
    folder: Path,
    study: Study | None,
    programs: Programs,
    tell: Tell,
    hooks: Hooks = NO_HOOKS,
) -> Path:
    """Resumes a stopped race; returns its folder."""
    folder = folder.absolute()
    with open_ledger(folder / FILE_NAME) as ledger, locked(folder):
        text = ledger.meta("study_toml") or ""
        if study is not None and study.toml != text:
            raise UsageError(
                f"{folder} is a race of another study, or its study has changed since; start a new "
                f"race, or resume this one unchanged: {resuming(folder)}"
            )
        folder_then = Path(ledger.meta("study_folder") or "")
        written = parse_study(text, programs.designs, folder_then, with_claims=False)
        recorded = leave_out(keep_options(ledger, written), left_out_then(ledger))
        ledger.check_cells(matched_cells(recorded.cells), "search")
        if ledger.settled():
            recorded = settled(ledger, recorded)
            ledger.check_cells(recorded.cells)
        recorded = restore_placement(recorded, ledger).but(seed=int(ledger.meta("seed") or 0))
        if ledger.settled() and not ledger.left():
            if ledger.meta("finished_at") is None:  # the lab died just before it
                ledger.finish()
            tell(Finished(folder, tuple(ledger.failures()), 0.0))
            return folder
        with place_sides(recorded, programs) as placement, scratch_removed(folder):
            run(ledger, recorded, placement.programs(programs), placement, tell, hooks)
    return folder


def first_notes_of(
    study: Study, setup: TrialSetup, unseen: Sequence[str], spoilers: dict[str, str]
) -> tuple[str, ...]:
    placement, found, no_trace = setup.placement, setup.perf, setup.no_trace
    left_out = [f"{name} is left out: {reason}" for name, reason in study.left_out.items()]
    groups = None if placement.server.groups else NO_GROUPS
    hidden = []
    if study.sampled_blocks and found.no_samples:
        hidden.append(
            f"no samples of what CPU time is spent on: {found.no_samples}; what is left: user and "
            "system time, page faults and context switches, among all metrics of the report"
        )
    if no_trace:
        hidden.append(f"nothing about where a request's time goes: {no_trace}")
    limits = (placement.note, placement.steering.note, groups, found.note, *hidden)
    return (*left_out, *filter(None, limits), *unseen, *doctor_warnings(spoilers))


def no_trace_of(study: Study, placement: Placement, programs: Programs) -> str | None:
    """Why requests cannot be followed from one side to the other; None if they can, or need not."""
    if not study.sampled_blocks:
        return None
    if not placement.on_one_host:
        return "the sides are on different hosts"
    return placement.server.ask(why_no_trace, programs.trace)


def doctor_warnings(spoilers: dict[str, str]) -> tuple[str, ...]:
    """One line for each problem of this machine that spoils the race."""
    return tuple(
        f"{name}: {why}; `regatta doctor` shows what to do" for name, why in spoilers.items()
    )


def run(  # noqa: PLR0913, PLR0917  (all that describes a race)
    ledger: Ledger,
    study: Study,
    programs: Programs,
    placement: Placement,
    tell: Tell,
    hooks: Hooks,
) -> None:
    """Runs the planned trials that are still missing."""
    found = Perf(is_off=True)
    if ledger.meta("use_perf") == "yes":
        found = common([side.ask(probe, study.events) for side in placement.hosts])
    found = keep_accounts(ledger, placement, found)
    spoilers = hooks.spoilers(study, placement)
    idle_uw = placement.server.ask(energy.idle_uw)
    if ledger.environment("placement") is None:
        ledger.record_environment(environment.describe(study, programs, found, placement))
        here = len(placement.hosts) == 1
        fine = "nothing serious" if here else "not run: it checks only this machine"
        ledger.record_environment({"doctor": spoilers or fine, "idle_uw": idle_uw})
    setup = TrialSetup(
        programs=programs,
        placement=placement,
        perf=found,
        events=study.events,
        no_trace=no_trace_of(study, placement, programs),
        warm_ups=WarmUps(study.warmup_limit_s),
        scratch=ledger.path.parent / SCRATCH,
        contenders=study.contenders,
        folder=study.folder,
        seed=study.seed or 0,
        disturbance_limit_percent=study.disturbance_limit_percent,
        whole_cost=study.whole_cost,
        ends_s=hooks.ends_s,
    )
    first_notes = first_notes_of(study, setup, hooks.unseen(study), spoilers)
    looks = look(ledger, study, setup)
    setup = replace(setup, expected=expected_by(looks))
    first_notes += tuple(look_notes(looks))
    race_about = About(
        name=study.name,
        title=study.title,
        folder=ledger.path.parent,
        seed=study.seed or 0,
        placement=placement.text,
        server_cpus=placement.server.cpus,
        client_cpus=placement.client.cpus,
    )
    if not ledger.settled():
        tell(
            SearchStarted(
                race_about, len(matched_cells(study.cells)), study.search_blocks, first_notes
            )
        )
        first_notes = ()
        found_rates = study.but(cells=find_cells(ledger, study, setup, tell))
        study = hooks.fit(found_rates, setup.warm_ups)
        ledger.settle(study.cells, plan_of(study, setup.no_trace), placement.kind, fitted(study))
        ledger.record_environment({"warm_ups": setup.warm_ups.to_list()})
    trials = len(ledger.plan())
    tell(Started(race_about, trials, trials - len(ledger.left()), first_notes, study.sittings))
    started_s = time.monotonic()
    run_sittings(ledger, setup, study, tell, hooks.enough)
    ledger.record_environment({"warm_ups": setup.warm_ups.to_list()})
    ledger.finish()
    elapsed_s = time.monotonic() - started_s
    tell(Finished(ledger.path.parent, tuple(ledger.failures()), elapsed_s))


RaceOnce = Callable[[Study, Path], Path]
"""Runs a study's race in the given folder; returns its ledger."""


def is_finished(path: Path) -> bool:
    return path.exists() and "finished_at" in read_meta(path)


def race_with(
    programs: Programs, options: Options, display: Callable[[], Display], hooks: Hooks
) -> RaceOnce:
    """A function that runs each study's race once, however often it is called."""

    def race(study: Study, folder: Path) -> Path:
        path = folder / FILE_NAME
        if is_finished(path):
            return path
        with display() as show:
            if path.exists():
                # With the recorded study, as the length of a spin was measured at its start.
                reopen(folder, None, programs, show, hooks)
            else:
                race_options = Options(**{**vars(options), "out": folder})
                begin(study, race_options, programs, show, hooks)
        return path

    return race

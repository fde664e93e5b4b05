"""Starts a lab or continues one, runs the steps in order, and repeats steps on request."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from regatta.errors import UsageError
from regatta.measure.programs import Programs
from regatta.measure.race.race import RaceOnce
from regatta.record.study import parse_study
from regatta.teach.lab import commands
from regatta.teach.lab.console import Log
from regatta.teach.lab.report import write_report
from regatta.teach.lab.state import FILE, Guess, LabSetting, LabState, check_setting, load_state
from regatta.teach.lab.step import Choice, Lab, Step
from regatta.teach.lab.steps import STEPS
from regatta.teach.lab.steps.looking_back import MakeGuess, check_guess, in_words
from regatta.teach.lab.tools import find_tools


def run_steps(lab: Lab, display: Log) -> bool:
    """Does the remaining steps; False if the student stopped before the end."""
    for number, step in enumerate(STEPS, start=1):
        if step.name in lab.state.done:
            continue
        for name in step.files(lab):
            lab.path(name).parent.mkdir(parents=True, exist_ok=True)
        display.begin(number, step, lab)
        choice = do_step(step, lab, display)
        if choice is Choice.STOP:
            return False
        if step.commands(lab):
            typed = choice is Choice.GO
            lab.remember(by_hand={**lab.state.by_hand, step.name: typed})
        result = step.result(lab)
        lab.remember(done={**lab.state.done, step.name: result})
        write_report(lab, STEPS)
        display.end(step, result)
    return True


def do_step(step: Step, lab: Lab, display: Log) -> Choice:
    """GO if the student typed the commands, RUN if the lab ran them, or STOP."""
    by_hand = bool(step.commands(lab))
    while True:
        choice = display.choose(by_hand)
        if choice is Choice.STOP:
            return choice
        if choice is Choice.RUN or not by_hand:
            step.run(lab)
            return Choice.RUN
        missing = step.missing_files(lab)
        if not missing:
            return choice
        display.report_missing([str(lab.path(name)) for name in missing])


def next_step(lab: Lab) -> Step | None:
    """None: all are done."""
    return next((step for step in STEPS if step.name not in lab.state.done), None)


def check_step(name: str) -> None:
    """UsageError for an unknown step."""
    if name not in {step.name for step in STEPS}:
        known = ", ".join(step.name for step in STEPS)
        raise UsageError(f"--again is {name}; it must be one of {known}")


def steps_to_repeat(name: str) -> set[str]:
    """The step, and all steps that depend on it; UsageError for an unknown step."""
    check_step(name)
    names = {name}
    for step in STEPS:
        if names & set(step.depends_on):
            names.add(step.name)
    return names


def do_again(lab: Lab, name: str) -> None:
    """Marks a step and all that depend on it as not done; moves their files aside."""
    repeated = steps_to_repeat(name)
    for step in STEPS:
        if step.name in repeated:
            step.put_aside(lab)
    lab.remember(
        done={of: result for of, result in lab.state.done.items() if of not in repeated},
        guess=None if "guess" in repeated else lab.state.guess,
        by_hand={of: typed for of, typed in lab.state.by_hand.items() if of not in repeated},
    )


Races = Callable[[tuple[int, ...], tuple[int, ...]], RaceOnce]
"""From the server's and the client's CPUs to the function that races a study on them."""


@dataclass(frozen=True)
class LabOptions:
    """Options of the command line; None: keep the lab's value, or use the default."""

    designs: tuple[str, ...] | None = None
    connections: int | None = None
    work: str | None = None
    quick: bool | None = None
    guess: Guess | None = None

    @property
    def setting_changes(self) -> dict[str, object]:
        values = {name: getattr(self, name) for name in LabSetting.__dataclass_fields__}
        return {name: value for name, value in values.items() if value is not None}


def agreed_state(
    folder: Path, options: LabOptions, programs: Programs, again: str | None = None
) -> LabState:
    """The saved state, or a new one; UsageError for options that contradict it.

    `again`: the step that is about to be repeated.
    """
    state = load_state(folder)
    known = LabSetting() if state is None else state.setting
    setting = replace(known, **options.setting_changes)  # type: ignore[arg-type]
    if state is not None and setting != state.setting:
        raise UsageError(
            f"{folder} holds a lab with other settings ({setting_words(state.setting)}). Start a "
            f"new lab with another --out, or continue this one: {commands.lab_command(folder)}"
        )
    check_setting(setting, programs.designs)
    if options.guess is not None:
        check_guess(options.guess, setting)
        if state is not None and not (again and MakeGuess.name in steps_to_repeat(again)):
            check_same_guess(folder, options.guess, state.guess)
    return state or LabState(setting)


def open_lab(folder: Path, state: LabState, programs: Programs, races: Races, display: Log) -> Lab:
    """Everything the steps use; saves the state, so that the lab exists from here on."""
    tools = find_tools(programs)
    race_once = races(tools.server_cpus, tools.client_cpus)

    def race(text: str, into: Path) -> Path:
        return race_once(parse_study(text, programs.designs, folder), into)

    lab = Lab(folder, state, tools, race, display.ask, display.say)
    lab.remember()
    return lab


def check_same_guess(folder: Path, wanted: Guess, made: Guess | None) -> None:
    """UsageError if a different guess was already made."""
    if made is None or made == wanted:
        return
    options = ["--again", MakeGuess.name, "--guess", wanted.design]
    options += [] if wanted.by is None else ["--by", f"{wanted.by:g}"]
    raise UsageError(
        f"a guess was already made ({in_words(made)}); to change it and repeat the steps that "
        f"depend on it: {commands.lab_command(folder, *options)}"
    )


def setting_words(setting: LabSetting) -> str:
    quick = ", quick" if setting.quick else ""
    return (
        f"{', '.join(setting.designs)}; {setting.connections} connections; work {setting.work}"
        f"{quick}"
    )


def status_lines(folder: Path) -> list[str]:
    """A line for the lab, then one for each step."""
    state = load_state(folder)
    if state is None:
        raise UsageError(
            f"there is no lab in {folder} ({FILE} is missing); begin one: "
            f"{commands.lab_command(folder)}"
        )
    lines = [f"{folder}: {setting_words(state.setting)}"]
    for number, step in enumerate(STEPS, start=1):
        mark = "done" if step.name in state.done else "    "
        lines.append(f"{mark}  {number}  {step.name:<12} {step.title}")
    return lines

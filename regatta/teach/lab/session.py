"""Starts a lab or continues one, runs the steps in order, and repeats steps on request."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from regatta.errors import RegattaError, UsageError
from regatta.measure.programs import Programs
from regatta.measure.race.race import RaceOnce
from regatta.record.study import parse_study
from regatta.teach.lab.console import Choice, LabScreen
from regatta.teach.lab.processes import run_typed
from regatta.teach.lab.report import write_report
from regatta.teach.lab.state import (
    FILE,
    Guess,
    LabSetting,
    LabState,
    lab_command,
    load_state,
)
from regatta.teach.lab.step import Lab, Step
from regatta.teach.lab.steps import STEPS
from regatta.teach.lab.steps.looking_back import GUESS, check_guess, in_words
from regatta.teach.lab.steps.racing import whole_race
from regatta.teach.lab.tools import find_tools


def run_steps(lab: Lab, screen: LabScreen) -> bool:
    """Does the remaining steps; False if the student stopped before the end."""
    for number, step in enumerate(STEPS, start=1):
        if step.name in lab.state.done:
            continue
        for name in step.files(lab):
            lab.path(name).parent.mkdir(parents=True, exist_ok=True)
        screen.begin(number, len(STEPS), step, lab)
        if not do_step(step, lab, screen):
            return False
        result = step.result_in(lab)
        lab.remember(done={**lab.state.done, step.name: result})
        write_report(lab, STEPS)
        screen.end(step, result)
    return True


def do_step(step: Step, lab: Lab, screen: LabScreen) -> bool:
    """By hand or by the lab; False if the student stopped."""
    commands = step.commands(lab)
    while (choice := screen.choose(bool(commands))) is not Choice.STOP:
        if not commands:
            step.run(lab)
            return True
        if choice is Choice.RUN:
            run_typed(commands)
        missing = [str(lab.path(name)) for name in step.missing_files(lab)]
        if not missing:
            return True
        if choice is Choice.RUN:
            raise RegattaError(f"the client got no answer: see {missing[0]}")
        screen.report_missing(missing)
    return False


def steps_to_repeat(name: str) -> set[str]:
    """The step, and all steps that depend on it; UsageError for an unknown step."""
    if name not in {step.name for step in STEPS}:
        known = ", ".join(step.name for step in STEPS)
        raise UsageError(f"--again is {name}; it must be one of {known}")
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
        guess=None if GUESS in repeated else lab.state.guess,
    )


FEWEST_DESIGNS, MOST_DESIGNS = 2, 8
MOST_CONNECTIONS = 500
"""More clients at once exceed the descriptor limit of many shells."""


def check_setting(setting: LabSetting, programs: Programs, folder: Path) -> None:
    """UsageError for a setting that cannot be raced here."""
    parse_study(whole_race(setting), programs.designs, folder)
    for design in programs.designs:
        if design.name in setting.designs and design.missing is not None:
            raise UsageError(f"--designs names {design.name}: {design.missing}")
    if not FEWEST_DESIGNS <= len(setting.designs) <= MOST_DESIGNS:
        raise UsageError(f"--designs must name {FEWEST_DESIGNS} to {MOST_DESIGNS} designs")
    if setting.connections > MOST_CONNECTIONS:
        raise UsageError(f"--connections is over {MOST_CONNECTIONS}; choose fewer")


def agreed_state(
    folder: Path,
    changes: Mapping[str, Any],
    guess: Guess | None,
    programs: Programs,
    again: str | None = None,
) -> LabState:
    """The saved state, or a new one; UsageError for options that contradict it.

    `changes`: the settings of the command line; `again`: the step that is about to be repeated.
    """
    state = load_state(folder)
    setting = replace(LabSetting() if state is None else state.setting, **changes)
    repeated = steps_to_repeat(again) if again else ()
    if state is not None and setting != state.setting:
        raise UsageError(
            f"{folder} holds a lab with other settings ({state.setting.words}). Start a "
            f"new lab with another --out, or continue this one: {lab_command(folder)}"
        )
    check_setting(setting, programs, folder)
    if guess is not None:
        check_guess(guess, setting)
        made = state and state.guess
        if made and made != guess and GUESS not in repeated:
            options = ["--again", GUESS, "--guess", guess.design]
            options += [] if guess.by is None else ["--by", f"{guess.by:g}"]
            raise UsageError(
                f"a guess was already made ({in_words(made)}); to change it and repeat the steps "
                f"that depend on it: {lab_command(folder, *options)}"
            )
    return state or LabState(setting)


Races = Callable[[tuple[int, ...], tuple[int, ...]], RaceOnce]
"""From the server's and the client's CPUs to the function that races a study on them."""


def open_lab(
    folder: Path, state: LabState, programs: Programs, races: Races, screen: LabScreen
) -> Lab:
    """Everything the steps use; saves the state, so that the lab exists from here on."""
    tools = find_tools(programs)
    race_once = races(tools.server_cpus, tools.client_cpus)

    def race(text: str, into: Path) -> Path:
        return race_once(parse_study(text, programs.designs, folder), into)

    lab = Lab(folder, state, tools, race, screen.ask, screen.say)
    lab.remember()
    return lab


def status_lines(folder: Path) -> list[str]:
    """A line for the lab, then one for each step."""
    state = load_state(folder)
    if state is None:
        raise UsageError(
            f"there is no lab in {folder} ({FILE} is missing); begin one: {lab_command(folder)}"
        )
    lines = [f"{folder}: {state.setting.words}"]
    for number, step in enumerate(STEPS, start=1):
        mark = "done" if step.name in state.done else "    "
        lines.append(f"{mark}  {number}  {step.name:<12} {step.title}")
    return lines

"""Starts a lab or continues one, runs the steps in order, and repeats steps on request."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from regatta.errors import RegattaError, UsageError
from regatta.measure.programs import Programs
from regatta.record.study import parse_study
from regatta.teach.lab.console import RUN, STOP, LabScreen
from regatta.teach.lab.processes import run_typed
from regatta.teach.lab.report import write_report
from regatta.teach.lab.state import LabSetting, LabState, lab_command, load_state
from regatta.teach.lab.step import Lab, Step
from regatta.teach.lab.steps import STEPS
from regatta.teach.lab.steps.looking_back import GUESS, check_guess
from regatta.teach.lab.steps.racing import whole_race


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
    while (choice := screen.choose(bool(commands))) != STOP:
        if not commands:
            step.run(lab)
            return True
        if choice == RUN:
            run_typed(commands)
        missing = [str(lab.path(name)) for name in step.missing_files(lab)]
        if not missing:
            return True
        if choice == RUN:
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
    guess: str | None,
    programs: Programs,
    again: str | None = None,
) -> LabState:
    """The saved state, or a new one; UsageError for options that contradict it.

    `changes`: the settings of the command line; `again`: the step that is about to be repeated.
    """
    state = load_state(folder)
    repeated = steps_to_repeat(again) if again else ()
    setting = replace(LabSetting() if state is None else state.setting, **changes)
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
            raise UsageError(
                f"the guess was {made}; to change it and repeat the steps that depend on it: "
                f"{lab_command(folder, '--again', GUESS, '--guess', guess)}"
            )
    return state or LabState(setting)

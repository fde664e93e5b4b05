"""Starts a lab or continues one: checks the options against the saved state."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from regatta.errors import UsageError
from regatta.lab import commands
from regatta.lab.console import Log
from regatta.lab.runner import steps_to_repeat
from regatta.lab.setting import Setting, check_setting
from regatta.lab.state import FILE, Guess, State, load_state
from regatta.lab.step import Lab
from regatta.lab.steps import STEPS
from regatta.lab.steps.guessing import MakeGuess, check_guess, in_words
from regatta.lab.tools import find_tools
from regatta.machine.programs import Programs
from regatta.race.race_once import RaceOnce
from regatta.study import parse_study

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
        values = {name: getattr(self, name) for name in Setting.__dataclass_fields__}
        return {name: value for name, value in values.items() if value is not None}


def agreed_state(
    folder: Path, options: LabOptions, programs: Programs, again: str | None = None
) -> State:
    """The saved state, or a new one; UsageError for options that contradict it.

    `again`: the step that is about to be repeated.
    """
    state = load_state(folder)
    known = Setting() if state is None else state.setting
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
    return state or State(setting)


def open_lab(folder: Path, state: State, programs: Programs, races: Races, display: Log) -> Lab:
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


def setting_words(setting: Setting) -> str:
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

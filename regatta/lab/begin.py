"""A lab begun, or gone on with: its folder, its setting, and what it has at hand."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from regatta.errors import UsageError
from regatta.lab import commands
from regatta.lab.setting import Setting, check_setting
from regatta.lab.state import FILE, Guess, State, load_state
from regatta.lab.step import Desk
from regatta.lab.steps import STEPS
from regatta.lab.steps.guessing import MakeGuess, check_guess, in_words
from regatta.lab.tools import find_tools
from regatta.lab.walk import Talk, forgotten_by
from regatta.machine.programs import Programs
from regatta.race.once import RaceOnce
from regatta.study import parse_study

Races = Callable[[tuple[int, ...], tuple[int, ...]], RaceOnce]
"""What races a study with these CPUs for the server and for the client."""


@dataclass(frozen=True)
class Wishes:
    """What the command line asks for; None: what the lab has, or the default."""

    designs: tuple[str, ...] | None = None
    connections: int | None = None
    work: str | None = None
    quick: bool | None = None
    guess: Guess | None = None

    @property
    def of_setting(self) -> dict[str, object]:
        asked = {name: getattr(self, name) for name in Setting.__dataclass_fields__}
        return {name: value for name, value in asked.items() if value is not None}


def agreed_state(
    folder: Path, wishes: Wishes, programs: Programs, again: str | None = None
) -> State:
    """What is there, or a lab that begins; UsageError for wishes that do not fit it.

    `again`: the step that is about to be done again.
    """
    state = load_state(folder)
    known = Setting() if state is None else state.setting
    setting = replace(known, **wishes.of_setting)  # type: ignore[arg-type]
    if state is not None and setting != state.setting:
        raise UsageError(
            f"{folder} holds a lab with another setting ({in_short(state.setting)}). Name "
            f"another --out for a new lab, or go on with this one: {commands.lab(folder)}"
        )
    check_setting(setting, programs.designs)
    if wishes.guess is not None:
        check_guess(wishes.guess, setting)
        if state is not None and not (again and MakeGuess.name in forgotten_by(again)):
            check_same_guess(folder, wishes.guess, state.guess)
    return state or State(setting)


def lay_out(folder: Path, state: State, programs: Programs, races: Races, talk: Talk) -> Desk:
    """All that the steps have at hand; from here on the lab is in its folder."""
    tools = find_tools(programs)
    race_once = races(tools.server_cpus, tools.client_cpus)

    def race(text: str, into: Path) -> Path:
        return race_once(parse_study(text, programs.designs, folder), into)

    desk = Desk(folder, state, tools, race, talk.ask, talk.say)
    desk.remember()
    return desk


def check_same_guess(folder: Path, wanted: Guess, made: Guess | None) -> None:
    """UsageError if another guess is made already."""
    if made is None or made == wanted:
        return
    options = ["--again", MakeGuess.name, "--guess", wanted.design]
    options += [] if wanted.by is None else ["--by", f"{wanted.by:g}"]
    raise UsageError(
        f"the guess is made ({in_words(made)}); to make another, and do what follows again: "
        f"{commands.lab(folder, *options)}"
    )


def in_short(setting: Setting) -> str:
    quick = ", quick" if setting.quick else ""
    return (
        f"{', '.join(setting.designs)}; {setting.connections} connections; work {setting.work}"
        f"{quick}"
    )


def status_lines(folder: Path) -> list[str]:
    """What is done, and what comes next."""
    state = load_state(folder)
    if state is None:
        raise UsageError(
            f"there is no lab in {folder} ({FILE} is missing); begin one: {commands.lab(folder)}"
        )
    lines = [f"{folder}: {in_short(state.setting)}"]
    for number, step in enumerate(STEPS, start=1):
        mark = "done" if step.name in state.done else "    "
        lines.append(f"{mark}  {number}  {step.name:<12} {step.title}")
    return lines

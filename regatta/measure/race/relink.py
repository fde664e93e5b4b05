"""Links our server again, with its functions in a random order.

A function's address decides which cache lines, sets and pages it shares, and so what it costs. That
is chance, but the same in every block of a race (Mytkowicz et al. 2009). Only the linker runs
again, on the objects of the build: `-ffunction-sections` gives each function its own section, and a
linker script places these in random order. The code stays the same. Other servers cannot be
relinked.
"""

import filecmp
import random
import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from regatta.errors import PlacementError, RegattaError
from regatta.measure.network.veth import run_tool
from regatta.measure.programs import find_tool, query

TARGET = "src/programs/regatta-server"
TIMEOUT_S = 300
FUNCTIONS = "tT"
"""nm's types of functions."""


class RelinkError(RegattaError):
    """The server cannot be relinked here, so it races as built."""


def relink_all(server: Path, orders: Mapping[int, int], folder: Path) -> dict[int, Path]:
    """Links the server in every order, each in a folder named by its key; all, or an error.

    Existing files are reused, so that a race resumes with the servers that it started with.
    """
    wanted = {number: folder / str(number) / server.name for number in orders}
    if not folder.is_dir():
        build = build_of(server)
        unfinished = folder.with_name(f".{folder.name}.new")
        shutil.rmtree(unfinished, ignore_errors=True)
        for number, order in orders.items():
            folder_of_order = unfinished / str(number)
            folder_of_order.mkdir(parents=True)
            relink(build, order, folder_of_order / server.name)
        unfinished.rename(folder)
    return {number: path for number, path in wanted.items() if path.is_file()}


def build_of(server: Path) -> Path:
    above = server.resolve().parent.parent
    for build in (above / "build", above):
        with suppress(OSError):
            if (build / "build.ninja").is_file() and filecmp.cmp(build / TARGET, server, False):
                return build
    raise RelinkError("the server's build folder is missing (`make build` leaves one)")


def relink(build: Path, order: int, out: Path) -> None:
    """Links that build's server to `out` with its functions in a random order."""
    built = functions(build / TARGET)
    drawn = list(dict.fromkeys(built))
    random.Random(order).shuffle(drawn)
    script = out.with_name("order.ld")
    script.write_text(layout(drawn))
    command = link_command(build)
    command[command.index("-o") + 1] = str(out.resolve())
    run([*command, "-ffunction-sections", f"-Wl,-T,{script.resolve()}"], build)
    query(out, "--version")
    if functions(out) == built:
        raise RelinkError("its linker keeps the order of functions; link with LTO and GNU ld")


def layout(names: Sequence[str]) -> str:
    """A linker script that places these functions first, before the default layout."""
    inputs = "\n".join(f"    *(.text.{name})" for name in names)
    return f"SECTIONS\n{{\n  .text.drawn :\n  {{\n{inputs}\n  }}\n}}\nINSERT BEFORE .text;\n"


def functions(program: Path) -> list[str]:
    """The functions of a program in order of address."""
    listed = run(["nm", "--defined-only", "--numeric-sort", str(program)])
    rows = [line.split() for line in listed.splitlines()]
    return [row[2] for row in rows if len(row) == 3 and row[1] in FUNCTIONS]


def link_command(build: Path) -> list[str]:
    listed = run(["ninja", "-t", "commands", TARGET], build)
    command = shlex.split(listed.splitlines()[-1]) if listed else []
    if "-o" not in command:
        raise RelinkError(f"ninja does not list how {TARGET} is linked in {build}")
    return command


def run(command: Sequence[str], folder: Path | None = None) -> str:
    program = find_tool(command[0])
    if program is None:
        raise RelinkError(f"the program {command[0]} is missing")
    try:
        return run_tool([program, *command[1:]], timeout_s=TIMEOUT_S, folder=folder)
    except PlacementError as error:
        raise RelinkError(f"`{command[0]}` failed: {error}") from error

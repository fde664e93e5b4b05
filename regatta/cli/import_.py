"""`regatta import`: make a study of a published benchmark."""

from pathlib import Path
from typing import Annotated

import typer

from regatta.cli.output import Output, say
from regatta.errors import RegattaError, UsageError
from regatta.importing.httparena import TESTS, Found, Framework, read_checkout
from regatta.importing.study_text import build_script, study_text
from regatta.machine.programs import called_with, discover, find_tool, shown
from regatta.study import parse_study, suggestion

FEWEST = 2
ENGINES = ("podman", "docker")


def import_(context: typer.Context) -> None:
    """Make a study of a published benchmark, its rankings as claims.

    The race of this study then says which rankings hold on this machine. DIR is a checkout:
    git clone --depth 1 https://github.com/MDA2AV/HttpArena

    [bold]Examples[/]

      regatta import httparena HttpArena
    """
    if context.invoked_subcommand is None:
        raise UsageError("a command is missing; write: regatta import httparena DIR")


def httparena(  # noqa: PLR0913, PLR0917  (one parameter an option)
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A checkout of MDA2AV/HttpArena.")],
    test: Annotated[str, typer.Option(help=f"What is compared: {', '.join(TESTS)}.")] = "baseline",
    only: Annotated[
        list[str] | None,
        typer.Option(help="A framework to import; repeatable. Default: the best published."),
    ] = None,
    most: Annotated[int, typer.Option(help="How many frameworks at most.", min=FEWEST)] = 5,
    out: Annotated[
        Path | None,
        typer.Option(help="The study to write.", show_default="httparena-TEST.toml"),
    ] = None,
) -> None:
    """Make a study of a checkout of HttpArena.

    Each framework becomes a contender in its image, and each pair of neighbours in the published
    ranking a claim. Frameworks that cannot be imported are listed with the reason. Beside the study
    a script is written that builds the images. Nothing is built or downloaded now.

    baseline and limited-conn compare requests a second in a closed load, with requests by GET only;
    latency-10k compares CPU per request at 10,000 requests a second.

    [bold]Examples[/]

      regatta import httparena HttpArena
      regatta race httparena-baseline.toml
      regatta import httparena HttpArena --only axum --only gin --most 2
      regatta import httparena HttpArena --test latency-10k
    """
    if test not in TESTS:
        like = suggestion(test, tuple(TESTS))
        raise UsageError(f"--test is {test}; it must be one of {', '.join(TESTS)}{like}")
    designs = discover().designs
    taken = {design.name for design in designs}
    found = read_checkout(folder, test, tuple(dict.fromkeys(only or [])), taken, most)
    console = Output()
    for name, why in found.skipped:
        say(console, f"not imported: {name}: {why}")
    study = out or Path(f"httparena-{test}.toml")
    frameworks = enough(found)
    toml = study_text(test, frameworks)
    parse_study(toml, designs, study.absolute().parent)  # what is written can be raced
    script = study.with_suffix(".build.sh")
    engine = next(filter(find_tool, ENGINES), ENGINES[0])
    write_new({study: toml, script: build_script(frameworks, folder, engine)})
    say(console, f"saved: {shown(study)}: {len(frameworks)} contenders")
    say(console, f"first: sh {shown(script)}")
    say(console, f"then:  {called_with('race', shown(study))}")


def enough(found: Found) -> list[Framework]:
    if len(found.frameworks) < FEWEST:
        raise UsageError(
            f"{len(found.frameworks)} of {len(found.frameworks) + len(found.skipped)} frameworks "
            "can be imported; a race needs two: choose another --test or --only"
        )
    return found.frameworks


def write_new(texts: dict[Path, str]) -> None:
    """Writes all of these files, or none if one exists."""
    for path in texts:
        if path.exists():
            raise UsageError(f"{path} exists; choose another --out")
    for path, text in texts.items():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            for written in texts:
                written.unlink(missing_ok=True)
            raise RegattaError(
                f"cannot write {path}: {error.strerror or error}; choose another --out"
            ) from error


SUBCOMMANDS = {"httparena": httparena}

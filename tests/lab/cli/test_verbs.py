"""The table of verbs: cheap to list, and the same words as each verb's own help."""

import inspect
import os
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regatta.cli.main import VERBS, app
from tests.commands import run

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {"altair", "dask", "distributed", "jinja2", "numpy", "scipy", "typst", "vl_convert"}
LOADED = """
import sys
from regatta.cli.main import main
try:
    main()
finally:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def modules_after(*arguments: str) -> set[str]:
    """What is loaded when the program has ended."""
    return set(run(sys.executable, "-c", LOADED, *arguments, cwd=ROOT).stderr.split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_what_races_nothing_loads_nothing_heavy(option: str) -> None:
    loaded = modules_after(option)
    assert "typer" in loaded
    assert not loaded & HEAVY
    assert not {f"regatta.cli.{verb}" for verb in VERBS} & loaded


def test_a_verb_that_is_called_is_loaded() -> None:
    assert {"regatta.cli.report", "numpy"} <= modules_after("report", "--help")


THREADED = """
import os, sys
from regatta.cli.main import load
before = dict(os.environ)
load("compare")
import numpy
numpy.ones((500, 500)) @ numpy.ones((500, 500))
assert dict(os.environ) == before
print(len(os.listdir("/proc/self/task")) == 1)
"""


@pytest.mark.parametrize(("named", "alone"), [({}, True), ({"OPENBLAS_NUM_THREADS": "2"}, False)])
def test_numpy_takes_one_cpu_unless_told(named: dict[str, str], alone: bool) -> None:
    """And what a race starts inherits nothing of that."""
    inherited = {name: value for name, value in os.environ.items() if "THREADS" not in name}
    threaded = run(sys.executable, "-c", THREADED, cwd=ROOT, env=inherited | named)
    assert (threaded.stdout, threaded.stderr) == (f"{alone}\n", "")


def test_a_file_with_a_function_of_its_name_is_a_verb() -> None:
    files = (ROOT / "regatta" / "cli").glob("*.py")
    verbs = {file.stem for file in files if f"\ndef {file.stem}(" in file.read_text()}
    assert verbs - {"main"} == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_listed_by_the_first_line_of_its_help(verb: str) -> None:
    help_text = inspect.getdoc(getattr(import_module(f"regatta.cli.{verb}"), verb)) or ""
    assert VERBS[verb] == help_text.split("\n\n")[0].replace("\n", " ")


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_shows_examples(verb: str) -> None:
    shown = CliRunner().invoke(app, [verb, "--help"]).output
    assert f"regatta {verb} " in shown.partition("Examples")[2]

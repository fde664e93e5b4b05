"""The table of verbs, their help, and what they import."""

import inspect
import os
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regatta.verbs.main import VERBS, app
from tests.commands import run

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {"altair", "dask", "distributed", "jinja2", "numpy", "scipy", "typst", "vl_convert"}
LOADED = """
import sys
from regatta.verbs.main import main
try:
    main()
finally:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def modules_after(*arguments: str) -> set[str]:
    """The modules loaded when the program ends."""
    return set(run(sys.executable, "-c", LOADED, *arguments, cwd=ROOT).stderr.split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_no_heavy_module(option: str) -> None:
    loaded = modules_after(option)
    assert "typer" in loaded
    assert not loaded & HEAVY
    assert not {f"regatta.verbs.{verb}" for verb in VERBS} & loaded


def test_calling_a_verb_imports_it() -> None:
    assert {"regatta.verbs.report", "numpy"} <= modules_after("report", "--help")


THREADED = """
import os, sys
from regatta.verbs.main import load
before = dict(os.environ)
load("compare")
import numpy
numpy.ones((500, 500)) @ numpy.ones((500, 500))
assert dict(os.environ) == before
print(len(os.listdir("/proc/self/task")) == 1)
"""


@pytest.mark.parametrize(("named", "alone"), [({}, True), ({"OPENBLAS_NUM_THREADS": "2"}, False)])
def test_numpy_uses_one_thread_by_default(named: dict[str, str], alone: bool) -> None:
    """Programs that a race starts do not inherit the setting."""
    inherited = {name: value for name, value in os.environ.items() if "THREADS" not in name}
    threaded = run(sys.executable, "-c", THREADED, cwd=ROOT, env=inherited | named)
    assert (threaded.stdout, threaded.stderr) == (f"{alone}\n", "")


def test_each_module_with_a_function_of_its_name_is_a_verb() -> None:
    files = (ROOT / "regatta" / "verbs").glob("*.py")
    verbs = {file.stem for file in files if f"\ndef {file.stem}(" in file.read_text()}
    assert verbs - {"main"} == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_listed_with_the_first_line_of_its_help(verb: str) -> None:
    help_text = inspect.getdoc(getattr(import_module(f"regatta.verbs.{verb}"), verb)) or ""
    assert VERBS[verb] == help_text.split("\n\n")[0].replace("\n", " ")


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_shows_examples_that_fit_80_columns(verb: str) -> None:
    shown = CliRunner().invoke(app, [*verb.split(), "--help"], env={"COLUMNS": "80"}).output
    _, _, rest = shown.partition("Examples")
    examples = [line for line in rest.partition("╭")[0].splitlines() if line.strip()]
    assert any(f"regatta {verb}" in line for line in examples)
    assert all(line.startswith(("   regatta ", "   perf ")) for line in examples), "one wraps"

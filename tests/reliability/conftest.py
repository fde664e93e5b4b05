"""Failing system calls and dying workers."""

import pytest

from tests import every_design
from tests.reliability.injection import Tally

tallies = pytest.StashKey[dict[tuple[str, str], Tally]]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every_design.parametrize(metafunc)


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Tally:
    """The tally of this test and design, shown in the terminal summary."""
    what = request.node.originalname.removeprefix("test_").replace("_", " ")
    design = request.node.callspec.params["design"].name
    return request.config.stash.setdefault(tallies, {}).setdefault((what, design), Tally())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """For each design: faults injected and survived."""
    counted = terminalreporter.config.stash.get(tallies, {})
    for what in sorted({what for what, _ in counted}):
        terminalreporter.section(what)
        for (which, design), tally in counted.items():
            if which == what:
                terminalreporter.write_line(f"{design:18} {tally}")

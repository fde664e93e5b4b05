"""The plots of paper reports: measured figures, and published ones as hollow points."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import pytest

from regatta.analysis.results import Analysis
from regatta.report.paper.document import paper_document
from regatta.report.paper.elements import Plot
from regatta.report.paper.files import picture, to_pdf, to_svg
from tests.lab.published_races import CLOCK, REPORT_D, raced, with_published


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return with_published(raced(tmp_path_factory.mktemp("race")))


def found(analysis: Analysis, name: str) -> Plot:
    (plot,) = (one for one in paper_document(analysis).plots if one.name == name)
    return plot


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Of all layers; every layer's data stand in it or among the specification's."""
    known = list(spec.get("datasets", {}).values())
    for part in [spec, *spec.get("layer", [])]:
        known += [part["data"]["values"]] if "values" in part.get("data", {}) else []
    return [row for rows in known for row in rows]


def marks_of(spec: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in spec["layer"]]


def test_clocks_switches_and_cache_are_plotted_for_each_scope(analysis: Analysis) -> None:
    assert [plot.name for plot in paper_document(analysis).plots] == [
        f"{group}-{name}" for group in (1, 2) for name in ("clocks", "switches", "cache")
    ]
    labels = [panel.label for panel in found(analysis, "2-clocks").panels]
    assert labels == ["cpu-clock", "task-clock"]
    labels = [panel.label for panel in found(analysis, "1-cache").panels]
    assert labels == ["cache-references per request", "cache-misses per request"]
    switches = [panel.label for panel in found(analysis, "2-switches").panels]
    assert {"context-switches", "instructions per cycle"} <= set(switches)


def test_a_title_names_what_is_shown_and_nothing_else(analysis: Analysis, tmp_path: Path) -> None:
    """Not the clock of a machine that does not count cycles."""
    title = found(analysis, "2-switches").title
    assert title.startswith("Context switches, the clock and instructions per cycle against")
    title = found(raced(tmp_path, hardware=False), "2-switches").title
    assert title.startswith("Context-switches against")


def test_every_specification_is_valid(analysis: Analysis) -> None:
    for plot in paper_document(analysis).plots:
        for panel in plot.panels:
            alt.Chart.from_dict(panel.spec)


def test_published_figures_are_hollow_beside_whole_processes(analysis: Analysis) -> None:
    plot = found(analysis, "2-clocks")
    clock = plot.panels[0].spec
    theirs = [row for row in rows_of(clock) if "source" in row]
    assert {row["design"]: row["value"] for row in theirs} == CLOCK
    assert {row["source"] for row in theirs} == {REPORT_D}
    hollow = [layer["mark"] for layer in clock["layer"] if layer["mark"].get("filled") is False]
    assert len(hollow) == 1
    assert REPORT_D in plot.says
    for name in ("clocks", "switches"):
        for group, is_hollow in ((1, False), (2, True)):
            rows = rows_of(found(analysis, f"{group}-{name}").panels[0].spec)
            assert any("source" in row for row in rows) == is_hollow


def test_clocks_are_bars_and_the_others_lines(analysis: Analysis) -> None:
    assert "bar" in marks_of(found(analysis, "2-clocks").panels[0].spec)
    assert "line" in marks_of(found(analysis, "1-cache").panels[0].spec)


def test_figures_with_a_wide_range_have_points_instead_of_bars(analysis: Analysis) -> None:
    """A bar stands on 0, which a logarithmic axis has not."""
    (said,) = analysis.claims
    first, *others = said.published
    far = replace(said, published=[replace(first, value=4000.0), *others])
    spec = found(replace(analysis, claims=[far]), "2-clocks").panels[0].spec
    assert "bar" not in marks_of(spec)
    assert "log" in str(spec)


def test_without_hardware_counters_plots_show_the_rest(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    bare = raced(tmp_path_factory.mktemp("bare"), hardware=False, scopes=["window"])
    plots = paper_document(bare).plots
    assert [plot.name for plot in plots] == ["clocks", "switches"]
    assert [panel.label for panel in plots[1].panels] == ["context-switches per request"]


def test_a_picture_has_all_panels_and_one_legend(analysis: Analysis) -> None:
    plot = found(analysis, "2-switches")
    spec = picture(plot)
    assert len(spec["concat"]) == len(plot.panels)
    svg = to_svg(plot)
    assert svg.startswith("<svg")
    # Once in the legend; a panel says only its own name.
    assert svg.count(">thread-per-client<") == 1
    assert to_pdf(plot).startswith(b"%PDF")

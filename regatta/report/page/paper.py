"""The page's tables and plots in the form of lab reports, for one group of cells."""

from typing import Any

from regatta.analysis.estimates import Estimate
from regatta.report.paper.document import designs_section
from regatta.report.paper.elements import Column, PaperTable
from regatta.report.paper.figures import figure_text, remark
from regatta.report.paper.groups import PaperGroup
from regatta.report.paper.markdown import title_of
from regatta.report.text.table import Table


def paper_section(of: PaperGroup, prefix: str, charts: dict[str, Any]) -> dict[str, Any]:
    """Tables as text, and plots with the ids of their charts."""
    section = designs_section(of)
    plots = []
    for plot in section.plots:
        panels: list[dict[str, str]] = []
        for panel in plot.panels:
            name = f"{prefix}-paper-{plot.name}-{len(panels)}"
            charts[name] = panel.spec
            panels.append({"id": name, "label": panel.label, "unit": panel.unit})
        plots.append({"title": plot.title, "says": plot.says, "panels": panels})
    return {"tables": [as_text(table) for table in section.tables], "plots": plots}


def as_text(table: PaperTable) -> Table:
    """Each figure with the half-width of its interval on a second line."""
    rows = [
        [
            f"{row.label}, {row.unit}" if row.unit else row.label,
            *map(_figure, row.figures, table.columns),
        ]
        for row in table.rows
    ]
    header = [table.head, *map(title_of, table.columns)]
    return Table(table.title, table.says, header, rows)


def _figure(estimate: Estimate | None, column: Column) -> str:
    value, half = figure_text(estimate, column)
    reach = f"± {half}" if half else ""
    return f"{value}\n{reach}{remark(estimate)}".rstrip()

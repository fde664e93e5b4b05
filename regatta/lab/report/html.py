"""report.html: self-contained, without scripts."""

from markupsafe import Markup

from regatta.lab.report.parts import LabReport, pieces
from regatta.lab.report.pictures import svg
from regatta.lab.step_result import Picture
from regatta.report.page.html import environment


def to_html(report: LabReport) -> str:
    template = environment("regatta.lab.report").get_template("report.html.j2")
    return template.render(report=report, drawn=drawn, pieces=pieces)


def drawn(picture: Picture) -> Markup:
    """Safe: the renderer has escaped all text."""
    return Markup(svg(picture))

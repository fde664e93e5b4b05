"""report.html: one file that needs no network, no script and no other file."""

from markupsafe import Markup

from regatta.lab.kept import Picture
from regatta.lab.report.parts import LabReport, pieces
from regatta.lab.report.pictures import svg
from regatta.report.page.html import environment


def to_html(report: LabReport) -> str:
    template = environment("regatta.lab.report").get_template("report.html.j2")
    return template.render(report=report, drawn=drawn, pieces=pieces)


def drawn(picture: Picture) -> Markup:
    """Our own drawing: every text in it is escaped by who drew it."""
    return Markup(svg(picture))

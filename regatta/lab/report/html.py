"""report.html: one file that needs no network, no script and no other file."""

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from regatta.lab.kept import Picture
from regatta.lab.report.parts import LabReport, pieces
from regatta.lab.report.pictures import svg


def to_html(report: LabReport) -> str:
    environment = Environment(
        loader=PackageLoader("regatta.lab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(
        report=report, drawn=drawn, pieces=pieces
    )


def drawn(picture: Picture) -> Markup:
    """Our own drawing: every text in it is escaped by who drew it."""
    return Markup(svg(picture))

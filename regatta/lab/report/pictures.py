"""The pictures of a lab as SVG."""

import vl_convert

from regatta.lab.kept import Picture
from regatta.report.charts.theme import LIGHT, config

WIDTH = 560


def svg(picture: Picture) -> str:
    """With its title, so that it explains itself wherever it is put."""
    title = {"text": picture.title, "subtitle": picture.says}
    spec = {**picture.spec, "width": WIDTH, "title": title}
    found: str = vl_convert.vegalite_to_svg(spec, config=config(LIGHT))
    return found

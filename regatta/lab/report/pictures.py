"""Renders the lab's pictures as SVG and PDF, without a browser or a network."""

from typing import Any

import vl_convert

from regatta.lab.step_result import Picture
from regatta.report.charts.theme import LIGHT, config
from regatta.report.text.printable import all_printable

WIDTH = 560


def svg(picture: Picture) -> str:
    found: str = vl_convert.vegalite_to_svg(titled(picture), config=config(LIGHT))
    return found


def pdf(picture: Picture) -> bytes:
    found: bytes = vl_convert.vegalite_to_pdf(titled(picture), config=config(LIGHT))
    return found


def titled(picture: Picture) -> dict[str, Any]:
    """The specification with the title inside the picture."""
    title = {"text": picture.title, "subtitle": picture.says}
    titled: dict[str, Any] = all_printable({**picture.spec, "width": WIDTH, "title": title})
    return titled

"""report.html: the view as one file that needs no network and no other file."""

import json
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from regatta.show.palette import styles
from regatta.show.text import LINES, all_printable, pieces, printable
from regatta.show.vega import vega
from regatta.show.view import FOLDED, Spec, View


def to_html(view: View) -> str:
    charts: dict[str, Spec] = {
        f"{chart.name}-{at}": panel.spec
        for chart in view.charts()
        for at, panel in enumerate(chart.panels)
    }
    page = environment().get_template("report.html.j2")
    known = styles(list(view.contenders))
    return page.render(
        view=view, styles=known, folded=FOLDED, charts=_json(charts), vega=Markup(vega())
    )


@cache
def environment() -> Environment:
    found = Environment(
        loader=PackageLoader("regatta.show", "page"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["coded"] = _coded
    return found


def _shown(value: Any) -> Any:
    """Makes control characters visible; the template escapes everything that is not Markup."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value, LINES)


def _coded(text: str) -> Markup:
    """With what stands between backticks as code."""
    return Markup("").join(
        Markup("<code>{}</code>").format(printable(part)) if is_code else escape(printable(part))
        for part, is_code in pieces(text)
    )


def _json(value: Any) -> Markup:
    """JSON that cannot end its script element, whatever a contender's name contains."""
    shown = all_printable(value, LINES)  # names look the same as outside the charts
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)

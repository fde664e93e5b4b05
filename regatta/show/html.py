"""report.html: the view as one file that needs no network and no other file; and all files of a
report."""

import json
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from regatta.errors import RegattaError
from regatta.judge.results import Analysis
from regatta.record.files import write_whole
from regatta.show.csv import claims_csv, to_csv
from regatta.show.markdown import to_markdown
from regatta.show.palette import styles
from regatta.show.text import LINES, all_printable, pieces, printable
from regatta.show.view import FOLDED, Spec, View

NO_CACHE = (OSError, RegattaError, RuntimeError, UnicodeDecodeError)
"""Nothing readable or writable there; pathlib raises RuntimeError for a user without a home."""


@cache
def vega() -> str:
    """Vega, Vega-Lite and vega-embed as one script without imports.

    Bundling takes seconds, more than the rest of a report, and the bundle is the same in all
    reports: it is cached below XDG_CACHE_HOME, one file for each version of the bundler.
    """
    with suppress(*NO_CACHE), path().open("rb") as file:
        # Only a file of this user is trusted: it becomes a script in their pages.
        if os.fstat(file.fileno()).st_uid == os.geteuid() and (cached := file.read()):
            return cached.decode()
    # Without a snippet the bundle exports all three as globals; the stubs require one.
    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    assert "</script" not in bundle.lower(), "the bundle would end its own element"
    with suppress(*NO_CACHE):
        path().parent.mkdir(parents=True, exist_ok=True)
        write_whole(path(), bundle)
    return bundle


def path() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    # By the specification a relative path is ignored.
    folder = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    return folder / "regatta" / f"vega-{version('vl-convert-python')}.js"


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


def write_files(analysis: Analysis, view: View, folder: Path) -> None:
    """report.html, summary.md and summary.csv; with claims also claims.csv."""
    write_whole(folder / "summary.csv", to_csv(analysis))
    if analysis.claims:
        write_whole(folder / "claims.csv", claims_csv(analysis.claims))
    write_whole(folder / "summary.md", to_markdown(view))
    write_whole(folder / "report.html", to_html(view))

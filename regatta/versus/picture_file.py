"""The file of the comparison's picture: checked before the race, written after it."""

from pathlib import Path

import vl_convert

from regatta.analysis.results import Analysis
from regatta.errors import RegattaError, UsageError
from regatta.report.charts.theme import LIGHT, config
from regatta.report.text.printable import all_printable

SVG, PNG = KINDS = (".svg", ".png")
SCALE = 2.0
"""Pixels of a PNG per CSS pixel, for high-density screens."""


def check_picture(file: Path | None) -> None:
    """Before anything starts: UsageError for what could not be written at the end."""
    if file is None:
        return
    if file.suffix not in KINDS:
        raise UsageError(f"--picture is {file}; its name must end in {' or '.join(KINDS)}")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"--picture is {file}, but its folder does not exist; make it first")


def write_picture(analysis: Analysis, file: Path) -> None:
    from regatta.versus.picture import picture  # noqa: PLC0415  (imports altair, 0.3 s)

    # A control character in a name would make vl-convert abort the process.
    spec = all_printable(picture(analysis))
    try:
        if file.suffix == SVG:
            file.write_text(vl_convert.vegalite_to_svg(spec, config=config(LIGHT)))
        else:
            file.write_bytes(vl_convert.vegalite_to_png(spec, scale=SCALE, config=config(LIGHT)))
    except OSError as error:
        raise RegattaError(
            f"cannot write {file}: {error.strerror or error}; free some space or name another file"
        ) from error

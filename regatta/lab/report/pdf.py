"""report.pdf, typeset by typst: all text goes as data beside the template, and none is markup."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import typst

from regatta.lab.report.parts import LabReport

TEMPLATE = "report.typ"
DATA = "report.json"


def to_pdf(report: LabReport, pictures: Mapping[str, bytes]) -> bytes:
    """`pictures`: each as PDF, by its name."""
    with TemporaryDirectory(prefix="regatta-") as name:
        folder = Path(name)
        for picture, content in pictures.items():
            (folder / f"{picture}.pdf").write_bytes(content)
        (folder / DATA).write_text(json.dumps(asdict(report)), encoding="utf-8")
        template = files("regatta.lab.report") / "templates" / TEMPLATE
        (folder / TEMPLATE).write_text(template.read_text(encoding="utf-8"), encoding="utf-8")
        found: bytes = typst.compile(folder / TEMPLATE, root=folder)
        return found

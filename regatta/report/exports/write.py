"""Writes exports; what would fail is refused before a race starts."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from regatta.analysis.results import Analysis
from regatta.errors import UsageError
from regatta.report.exports.bmf import to_bmf
from regatta.report.exports.github_action import to_github_action
from regatta.report.exports.openmetrics import to_openmetrics
from regatta.report.exports.otava import read_history, to_otava
from regatta.report.text.atomic_write import write_whole

OTAVA = "otava"
FORMATS = {
    "bmf": to_bmf,
    "github-action-benchmark": to_github_action,
    "openmetrics": to_openmetrics,
}
NAMES = (*FORMATS, OTAVA)
REVISION = {
    "branch": ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"),
    "commit": ("GITHUB_SHA", "CI_COMMIT_SHA"),
}
"""Environment variables of CI systems, the first that is set counts."""


@dataclass(frozen=True)
class Export:
    format: str
    file: Path


def parse_exports(texts: Sequence[str]) -> list[Export]:
    """Reads `bmf:bencher.json`; UsageError for what cannot be written."""
    found = []
    for text in texts:
        name, _, file = text.partition(":")
        if name not in NAMES:
            close = get_close_matches(name, NAMES, 1)
            meant = f"did you mean {close[0]}? " if close else ""
            raise UsageError(
                f"--export is {text}; {meant}write FORMAT:FILE with one of {', '.join(NAMES)}"
            )
        if not file:
            raise UsageError(f"--export is {text}; name a file: {name}:FILE")
        path = Path(file)
        if not path.absolute().parent.is_dir() or path.is_dir():
            raise UsageError(f"--export is {text}; {file} must be a file in an existing folder")
        if name == OTAVA:
            read_history(path)
        found.append(Export(name, path))
    return found


def write_exports(analysis: Analysis, exports: Sequence[Export]) -> None:
    for one in exports:
        if one.format == OTAVA:
            text = to_otava(analysis, read_history(one.file), revision(os.environ))
        else:
            text = FORMATS[one.format](analysis)
        write_whole(one.file, text)


def revision(environment: Mapping[str, str]) -> dict[str, str]:
    """Branch and commit as a CI system names them, else empty: Otava needs both in each entry."""
    return {
        key: next((environment[name] for name in names if environment.get(name)), "")
        for key, names in REVISION.items()
    }

"""Apache Otava's JSON: a list with one entry a race. A further race is added to the list."""

import json
from pathlib import Path
from typing import Any

from regatta.analysis.results import Analysis
from regatta.errors import UsageError
from regatta.report.exports.figures import figures

Entry = dict[str, Any]


def to_otava(analysis: Analysis, history: list[Entry], revision: dict[str, str]) -> str:
    """`revision`: branch and commit; Otava names them where a figure changed."""
    entry = {
        "timestamp": int(float(analysis.meta.get("created_at") or 0)),
        "metrics": [{"name": one.path, "value": one.value} for one in figures(analysis)],
        "attributes": {"study": analysis.names.name, **revision},
    }
    return json.dumps([*history, entry], indent=1, allow_nan=False) + "\n"


def read_history(path: Path) -> list[Entry]:
    """The races in a file so far; none if there is no file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be added to: {error}; name another file") from error
    if not isinstance(found, list) or not all(is_entry(one) for one in found):
        raise UsageError(f"{path} is no history of Otava; name another file")
    return found


def is_entry(one: Any) -> bool:
    return isinstance(one, dict) and {"timestamp", "metrics", "attributes"} <= one.keys()

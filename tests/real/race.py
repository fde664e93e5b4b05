"""What `regatta versus` says of a pair, read from its JSON."""

import json
import math
import tempfile
from dataclasses import dataclass
from typing import Any

from tests.commands import run
from tests.real.figures import Estimate, Figures
from tests.real.servers import CONNECTIONS, HOME, SERVERS
from tests.real.truth import Place
from tests.servers import program

CPU, P50 = "cpu_time_per_request_us", "latency_p50_ms"
PATIENCE_S = 3600


@dataclass(frozen=True)
class Raced:
    figures: Figures
    winner: str | None
    """Whom it shows to need less; None: it does not say."""
    place: Place


def versus(a: str, b: str, limit: str) -> Raced | str:
    """Or why it has no figures of both."""
    named = [f"{name}={SERVERS[name].command}" for name in (a, b)]
    asked = ("--connections", CONNECTIONS, "--path", "/", "--time", limit, "--json", "--quiet")
    with tempfile.TemporaryDirectory() as folder:
        words = (program("regatta"), "versus", *named, *asked, "--out", f"{folder}/race")
        done = run(*words, cwd=HOME, timeout=PATIENCE_S)
    try:
        return read(json.loads(done.stdout), a, b)
    except (ValueError, LookupError, TypeError) as error:
        why = done.stderr.strip().splitlines()[-1:] if done.returncode else [str(error)]
        return f"no figures of both, exit status {done.returncode}: {' '.join(why)}"


def read(found: dict[str, Any], a: str, b: str) -> Raced:
    (group,) = (group for group in found["groups"] if group["cells_share"]["load"] == "open")
    of = {cell["contender"]: cell["metrics"] for cell in group["cells"]}
    ratios = [row for row in group["against_best"] if row["metric"] == CPU and row["scale"]]
    if not ratios:
        raise LookupError(group["overall"]["sentence"])
    (against,) = ratios
    ratio = interval(against)
    if against["contender"] == a:
        ratio = Estimate(1 / ratio.value, 1 / ratio.high, 1 / ratio.low)
    cpu_a, cpu_b = (of[name]["server"][CPU]["value"] for name in (a, b))
    p50_a, p50_b = (interval(of[name]["client"][P50], 1e3) for name in (a, b))
    winner = against["best"] if against["outcome"] == "larger than the noise" else None
    placed = found["environment"]["placement"]
    server_cpus, client_cpus = (
        ",".join(map(str, placed[f"{side}_cpus"])) for side in ("server", "client")
    )
    place = Place(server_cpus, client_cpus, round(group["cells_share"]["rate"]))
    return Raced(Figures(ratio, (cpu_a, cpu_b), (p50_a, p50_b)), winner, place)


def interval(figure: dict[str, float | None], unit: float = 1.0) -> Estimate:
    """Where only the lower end is known, that is the value."""
    low = figure["low"] or 0.0
    value = low if figure["value"] is None else figure["value"]
    if not value:
        raise LookupError("a figure is missing")
    high = math.inf if figure["high"] is None else figure["high"]
    return Estimate(value * unit, low * unit, high * unit)

"""The studies that a calibration races: our server under several names, some of them slowed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from regatta.calibrate.goals import Context
from regatta.calibrate.sizes import SLOWER_PERCENT, Sizes
from regatta.study import Study, parse_study

CONNECTIONS = 10
SAME = ("a", "b")
PLAIN = "plain"
SPIN = re.compile(r'"scan\+spin=(\d+)us"')


def contender(server: Path, name: str, work: str) -> str:
    """One name for our server. As a contender of somebody's own it may have two."""
    # The options that every design of ours is raced with.
    command = [
        *(str(server), "--design", "select", "--listen", "{host}:{port}", "--work", work),
        *("--allow", "0.0.0.0/0", "--no-token", "--no-recorder"),
        *("--source", "procfs", "--sandbox", "off"),
    ]
    # What JSON makes of a list of texts is TOML too.
    return f'[contenders.{name}]\ndialect = "line"\ncommand = {json.dumps(command)}\n'


def study_of(
    context: Context, title: str, works: Mapping[str, str], race: Mapping[str, int], requests: int
) -> Study:
    """One cell for each name, alike but for the work."""
    parts = ['name = "calibration"', f"title = {json.dumps(title)}", "[race]"]
    parts += [f"{key} = {value}" for key, value in race.items()]
    parts += [contender(context.programs.server, name, work) for name, work in works.items()]
    # One group: only cells that are alike but for their names stand side by side.
    parts += ["[[cells]]", f"contenders = {json.dumps(list(works))}"]
    parts += [f"connections = {CONNECTIONS}", 'load = "burst"', f"requests = {requests}"]
    return parse_study("\n".join(parts) + "\n", context.programs.designs, context.folder)


def same_study(context: Context, size: Sizes) -> Study:
    return study_of(
        context,
        "The same server under two names",
        dict.fromkeys(SAME, "scan"),
        {
            "blocks": size.same_blocks,
            "counted_blocks": size.same_counted,
            "slices": size.same_slices,
        },
        size.same_requests,
    )


def slowed_name(percent: int) -> str:
    return f"slower-{percent}"


def spins_raced(study_toml: str) -> dict[int, int]:
    """The spins in µs of such a study, by the percentage."""
    spins = [int(us) for us in SPIN.findall(study_toml)]
    return dict(zip(SLOWER_PERCENT, spins, strict=True))


def slowed_study(context: Context, size: Sizes, spins_us: Mapping[int, int]) -> Study:
    """`spins_us`: by the percentage that it slows the server by."""
    works = {PLAIN: "scan"}
    works |= {slowed_name(by): f"scan+spin={spins_us[by]}us" for by in SLOWER_PERCENT}
    race = {"blocks": size.slowed_blocks, "counted_blocks": 0, "slices": size.slowed_slices}
    return study_of(
        context,
        "A server, and the same slowed by a known amount",
        works,
        race,
        size.slowed_requests,
    )

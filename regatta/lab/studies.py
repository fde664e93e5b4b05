"""The studies of the lab's two races; each is saved next to its results."""

import json

from regatta.lab.setting import Setting

RUNS = 10
UNDISTURBED = 1e6
"""Percent of a CPU; more than any machine has, so that no trial counts as disturbed."""


def single_runs(setting: Setting) -> str:
    """Ten times what was done by hand; disturbed trials are not repeated, as with single runs."""
    return f"""\
# Written by regatta lab: ten single runs of each design, counted from start to exit.
name = "single-runs"
title = "Ten single runs of each design"

[race]
blocks = {RUNS}
counted_blocks = 0     # whole processes are always counted
disturbance_limit_percent = {UNDISTURBED:g}

[[cells]]
{cells(setting)}
scope = "process"
rounds = 1
linger_s = {0.01 if setting.quick else 0.2}
"""


def whole_race(setting: Setting) -> str:
    """The same question as a race."""
    blocks, counted, requests = (6, 1, 50) if setting.quick else (20, 4, 200)
    return f"""\
# Written by regatta lab: only the load is measured, on warm servers, in randomized blocks.
name = "lab-race"
title = "The race of the lab"

[race]
blocks = {blocks}
counted_blocks = {counted}
slices = {2 if setting.quick else 5}

[[cells]]
{cells(setting)}
requests = {requests}
"""


def cells(setting: Setting) -> str:
    return f"""\
designs = {json.dumps(list(setting.designs))}
connections = {setting.connections}
work = {json.dumps(setting.work)}
load = "burst"
engine = "epoll\""""

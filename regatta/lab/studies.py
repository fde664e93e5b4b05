"""The two races of the hour, as studies: each is written beside its results, to be read."""

import json

from regatta.lab.setting import Setting

RUNS = 10
UNDISTURBED = 1e6
"""Percent of a CPU: more than any machine has."""


def single_runs(setting: Setting) -> str:
    """Ten times what was done by hand; nothing is repeated, as nobody repeats a single run."""
    return f"""\
# Made by regatta lab: each design in ten single runs, counted from its start to its end.
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
    """The same question, asked so that it can be answered."""
    blocks, counted, requests = (6, 1, 50) if setting.quick else (20, 4, 200)
    return f"""\
# Made by regatta lab: the load alone, on warm servers, in blocks of fresh random order.
name = "lab-race"
title = "The race of the lab"

[race]
blocks = {blocks}
counted_blocks = {counted}
slices = {2 if setting.quick else 5}
warmup_rounds = 1

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

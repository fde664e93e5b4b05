"""Ten single runs, which show how much one run varies; and the race, whose result is reliable."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis, Group
from regatta.record.metrics import PRIMARY, side_of
from regatta.record.read import read
from regatta.record.schema import FILE_NAME
from regatta.show.build import view_of
from regatta.show.groups import metric_chart
from regatta.show.html import write_files
from regatta.show.notes import disturbed
from regatta.show.numbers import capitalized, plural, short
from regatta.show.pictures import with_legends
from regatta.show.standings import READ, standings
from regatta.show.verdicts import LEGEND, verdict_sentence
from regatta.show.view import Chart, Panel, plain_table
from regatta.teach.lab.state import LabSetting, StepResult
from regatta.teach.lab.step import Lab

RUNS = 10
UNDISTURBED = 1e6
"""Percent of a CPU; more than any machine has, so that no trial counts as disturbed."""


def single_runs(setting: LabSetting) -> str:
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


def whole_race(setting: LabSetting) -> str:
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


def cells(setting: LabSetting) -> str:
    return f"""\
designs = {json.dumps(list(setting.designs))}
connections = {setting.connections}
work = {json.dumps(setting.work)}
load = "burst"
engine = "epoll\""""


SINGLE_RUNS, RACE = "single-runs", "race"
"""The folders of their ledgers; the studies are next to them."""
Runs = dict[str, Mapping[int, float]]
"""Server CPU per request in µs, by design and block."""


def raced(lab: Lab, name: str) -> Analysis:
    return analyse(read(lab.path(name) / FILE_NAME))


def by_run(group: Group) -> Runs:
    """Each contender's figure in each block; empty if all its trials failed."""
    return {result.cell.contender: result.blocks.get(PRIMARY.name, {}) for result in group.cells}


def winners(values: Runs) -> dict[str, int]:
    """In how many blocks each used the least (ties count for all); only blocks that all have."""
    known = [set(blocks) for blocks in values.values()]
    common = set.intersection(*known) if known else set()
    won = dict.fromkeys(values, 0)
    for block in common:
        smallest = min(blocks[block] for blocks in values.values())
        for name, blocks in values.items():
            won[name] += blocks[block] == smallest
    return won


def race(name: str, study_of: Callable[[LabSetting], str], lab: Lab) -> None:
    study = study_of(lab.setting)
    lab.path(f"{name}.toml").write_text(study, encoding="utf-8")
    lab.race(study, lab.path(name))


def winners_of_ten(lab: Lab) -> StepResult:
    values = by_run(raced(lab, SINGLE_RUNS).groups[0])
    count = max((len(blocks) for blocks in values.values()), default=0)
    often = ", ".join(f"{name} {times}" for name, times in winners(values).items())
    said = f"How often each needed the least CPU in {plural(count, 'single run')}: {often}."
    table = plain_table(
        title="The single runs",
        says=f"Server CPU per request, {PRIMARY.unit}, of whole processes; * least of the run.",
        header=["run", *values],
        rows=[run_row(number, values) for number in range(1, count + 1)],
    )
    return StepResult(said=(said,), tables=(table,))


def run_row(number: int, values: Runs) -> list[str]:
    """The star comes first, so that the figures stay aligned on the right."""
    known = {name: blocks[number] for name, blocks in values.items() if number in blocks}
    least = min(known.values(), default=0.0)
    texts = {name: f"{'* ' * (value == least)}{short(value)}" for name, value in known.items()}
    return [str(number), *(texts.get(name, "failed") for name in values)]


def result_of_race(lab: Lab) -> StepResult:
    analysis = raced(lab, RACE)
    write_files(analysis, view_of(analysis), lab.path(RACE))
    group = analysis.groups[0]
    title = f"Server CPU per request in {plural(group.overall.blocks, 'block')}"
    chart = metric_chart(analysis, group, PRIMARY, side_of(PRIMARY), "")
    if chart is not None:
        panel = Panel("", "", *with_legends([chart.panels[0].spec]))
        chart = Chart(RACE, title, "Bars are 95 % intervals.", (panel,))
    whole = standings(group, group.overall, group.steps[0])
    table = replace(next(whole.parts(lambda _: False)), title=title, says=f"{LEGEND} {READ}")
    more = f"The full report is {lab.path(RACE) / 'report.html'}."
    return StepResult(
        said=(verdict_sentence(group, group.overall), *notes_of(analysis), more),
        tables=(table,),
        charts=(chart,) if chart else (),
    )


def notes_of(analysis: Analysis) -> list[str]:
    """Limits of the machine that affected the race, from its ledger."""
    environment = analysis.environment
    placement = environment.get("placement")
    found = [placement.get("note") if isinstance(placement, dict) else None]
    found.append(environment.get("perf_note"))
    said = [f"{capitalized(str(note))}." for note in found if note]
    return [*said, *(note.sentence for note in disturbed(analysis))]

"""The cost of counting with perf: a short race with timed and counted trials."""

import tempfile
from pathlib import Path

from regatta.checks.doctor.finding import Effect, RaceSetup
from regatta.checks.doctor.probes import intervals
from regatta.checks.doctor.probes.child import ProbeError
from regatta.errors import RegattaError
from regatta.measure.programs import discover
from regatta.measure.race.options import Options
from regatta.measure.race.race import begin
from regatta.record import read as ledger_read
from regatta.record.readings import event
from regatta.record.records import COUNTED_TRIAL, TIMED, Trial
from regatta.record.schema import FILE_NAME
from regatta.record.study import parse_study

FEWEST_TRIALS = 3
WHAT = "extra CPU time of a request (work scan, 10 connections) with all perf events attached"
STUDY = """
name = "doctor"
title = "Cost of counting with perf"
[race]
blocks = 10
counted_blocks = 10
[[cells]]
designs = ["select"]
connections = 10
work = "scan"
load = "burst"
engine = "epoll"
requests = 100
"""


def measure(setup: RaceSetup) -> Effect:
    """Takes about five seconds; raises ProbeError if it cannot measure."""
    try:
        programs = discover()
        study = parse_study(STUDY, programs.designs)
        with tempfile.TemporaryDirectory(prefix="regatta-doctor-") as folder:
            options = Options(
                out=Path(folder) / "race",
                placement=setup.placement,
                server_cpus=setup.server_cpus,
                client_cpus=setup.client_cpus,
            )
            race = begin(study, options, programs, tell=lambda _: None)
            trials = ledger_read.read(race / FILE_NAME).trials
    except RegattaError as error:
        raise ProbeError(str(error)) from error
    return compare(trials)


def compare(trials: list[Trial]) -> Effect:
    """Compares the kernel's accounting, which both kinds of trial have."""
    if not any(origin == "perf" for trial in trials for _, origin, _ in trial.counters):
        raise ProbeError("perf cannot count anything here")
    costs: dict[str, list[float]] = {TIMED: [], COUNTED_TRIAL: []}
    for trial in trials:
        cpu_ns = event(trial, "server", "cpu-time", "kernel")
        if trial.counts and trial.answered and not isinstance(cpu_ns, str):
            costs[trial.kind].append(cpu_ns / trial.answered)
    if min(map(len, costs.values())) < FEWEST_TRIALS:
        raise ProbeError("too few trials of the probe succeeded")
    return intervals.extra_cost_unpaired(WHAT, costs[TIMED], costs[COUNTED_TRIAL])

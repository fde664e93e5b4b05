"""The steps of the lab, in order. Their texts and questions are in steps.md."""

from functools import partial

from regatta.teach.lab.step import Step
from regatta.teach.lab.steps import counting, looking_back, racing
from regatta.teach.lab.steps.looking_back import GUESS
from regatta.teach.lab.steps.racing import RACE, SINGLE_RUNS, race

STEPS = (
    Step.named("server", commands=counting.one_request),
    Step.named(
        "clients",
        commands=counting.many_and_a_silent_one,
        result=counting.served_behind_a_silent_one,
    ),
    Step.named("cpus", commands=counting.apart_and_together),
    Step.named("perf", commands=lambda lab: counting.counted(lab, lab.setting.designs[:1])),
    Step.named(
        "table",
        commands=lambda lab: counting.counted(lab, lab.setting.designs[1:]),
        result=counting.winner_of_one_run,
        depends_on=("perf",),
    ),
    Step.named(
        GUESS, run=looking_back.make_guess, result=looking_back.said_guess, depends_on=("table",)
    ),
    Step.named(
        SINGLE_RUNS,
        run=partial(race, SINGLE_RUNS, racing.single_runs),
        made=(f"{SINGLE_RUNS}.toml", SINGLE_RUNS),
        result=racing.winners_of_ten,
        depends_on=(GUESS,),
    ),
    Step.named(
        RACE,
        run=partial(race, RACE, racing.whole_race),
        made=(f"{RACE}.toml", RACE),
        result=racing.result_of_race,
        depends_on=(GUESS,),
    ),
    Step.named(
        "wrong",
        result=looking_back.what_was_wrong,
        depends_on=("table", GUESS, SINGLE_RUNS, RACE),
    ),
)
"""Each depends only on earlier ones."""

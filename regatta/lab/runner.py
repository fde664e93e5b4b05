"""Runs the steps in order, saves each result, and repeats steps on request."""

from regatta.errors import UsageError
from regatta.lab.console import Log
from regatta.lab.report import write_report
from regatta.lab.step import Choice, Lab, Step
from regatta.lab.steps import STEPS


def run_steps(lab: Lab, display: Log) -> bool:
    """Does the remaining steps; False if the student stopped before the end."""
    for number, step in enumerate(STEPS, start=1):
        if step.name in lab.state.done:
            continue
        for name in step.files(lab):
            lab.path(name).parent.mkdir(parents=True, exist_ok=True)
        display.begin(number, step, lab)
        choice = do_step(step, lab, display)
        if choice is Choice.STOP:
            return False
        if step.commands(lab):
            typed = choice is Choice.GO
            lab.remember(by_hand={**lab.state.by_hand, step.name: typed})
        result = step.result(lab)
        lab.remember(done={**lab.state.done, step.name: result})
        write_report(lab, STEPS)
        display.end(step, result)
    return True


def do_step(step: Step, lab: Lab, display: Log) -> Choice:
    """GO if the student typed the commands, RUN if the lab ran them, or STOP."""
    by_hand = bool(step.commands(lab))
    while True:
        choice = display.choose(by_hand)
        if choice is Choice.STOP:
            return choice
        if choice is Choice.RUN or not by_hand:
            step.run(lab)
            return Choice.RUN
        missing = step.missing_files(lab)
        if not missing:
            return choice
        display.report_missing([str(lab.path(name)) for name in missing])


def next_step(lab: Lab) -> Step | None:
    """None: all are done."""
    return next((step for step in STEPS if step.name not in lab.state.done), None)


def check_step(name: str) -> None:
    """UsageError for an unknown step."""
    if name not in {step.name for step in STEPS}:
        known = ", ".join(step.name for step in STEPS)
        raise UsageError(f"--again is {name}; it must be one of {known}")


def steps_to_repeat(name: str) -> set[str]:
    """The step, and all steps that depend on it; UsageError for an unknown step."""
    check_step(name)
    names = {name}
    for step in STEPS:
        if names & set(step.depends_on):
            names.add(step.name)
    return names


def do_again(lab: Lab, name: str) -> None:
    """Marks a step and all that depend on it as not done; moves their files aside."""
    repeated = steps_to_repeat(name)
    for step in STEPS:
        if step.name in repeated:
            step.put_aside(lab)
    lab.remember(
        done={of: result for of, result in lab.state.done.items() if of not in repeated},
        guess=None if "guess" in repeated else lab.state.guess,
        by_hand={of: typed for of, typed in lab.state.by_hand.items() if of not in repeated},
    )

"""The student's guess, before the race that tests it."""

from collections.abc import Callable, Sequence

from regatta.errors import UsageError
from regatta.lab.setting import Setting
from regatta.lab.state import Guess
from regatta.lab.step import Lab, Step
from regatta.lab.step_result import StepResult
from regatta.show.verdicts import listed

MOST_TIMES = 1000.0
NO_GUESS = "No guess was made."


class MakeGuess(Step):
    name = "guess"
    title = "A guess"
    text = (
        "Before you measure any further: which design needs the least CPU time on the server, and "
        "how many times as much does the runner-up need? If you commit to a guess first, you will "
        "read the result more carefully.",
    )
    questions = (
        "Why this design? Name the work that the other designs have to do and this one does not.",
    )
    depends_on = ("table",)

    def files(self, lab: Lab) -> Sequence[str]:
        del lab
        return ()

    def run(self, lab: Lab) -> None:
        lab.remember(guess=lab.guess or ask_for(lab))

    def result(self, lab: Lab) -> StepResult:
        guess = lab.state.guess
        return StepResult(said=(NO_GUESS if guess is None else f"The guess: {in_words(guess)}.",))


def in_words(guess: Guess) -> str:
    least = f"{guess.design} needs the least server CPU"
    return least if guess.by is None else f"{least}, the runner-up {guess.by:g} times as much"


def check_guess(guess: Guess, setting: Setting) -> None:
    """UsageError for a guess that can never be right."""
    if guess.design not in setting.designs:
        raise UsageError(f"--guess is {guess.design}; it must be {listed_or(setting.designs)}")
    if guess.by is not None and not 1 <= guess.by <= MOST_TIMES:
        raise UsageError(f"--by is {guess.by:g}; it must be a number from 1 to {MOST_TIMES:g}")


def listed_or(names: Sequence[str]) -> str:
    return listed(names).replace(" and ", " or ")


def ask_for(lab: Lab) -> Guess | None:
    """None without a terminal, or if the student makes no guess."""
    names = ", ".join(lab.setting.designs)
    least = ask_until(lab, f"Least server CPU ({names}; Enter: no guess): ", Guess)
    if least is None:
        return None

    def by(answer: str) -> Guess:
        return Guess(least.design, float(answer.replace(",", ".")))

    question = "How many times as much the runner-up needs, e.g. 1.2 (Enter: no guess): "
    return ask_until(lab, question, by) or least


def ask_until(lab: Lab, question: str, guess_of: Callable[[str], Guess]) -> Guess | None:
    """Repeats the question after an invalid answer."""
    while answer := lab.ask(question):
        try:
            guess = guess_of(answer)
            check_guess(guess, lab.setting)
        except UsageError as error:
            lab.say(str(error))
        except ValueError:
            lab.say(f"{answer} is not a number.")
        else:
            return guess
    return None

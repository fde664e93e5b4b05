"""A guess, before the measuring that decides it."""

from collections.abc import Callable, Sequence

from regatta.errors import UsageError
from regatta.lab.kept import Kept
from regatta.lab.setting import Setting
from regatta.lab.state import Guess
from regatta.lab.step import Desk, Step
from regatta.report.text.verdicts import listed

MOST_TIMES = 1000.0
NO_GUESS = "No guess was made."


class MakeGuess(Step):
    name = "guess"
    title = "A guess"
    text = (
        "Before you measure more: which of the designs needs the least CPU time on the server, "
        "and how many times as much does the next one need? Whoever guesses first reads the "
        "result more carefully.",
    )
    questions = ("Why this one? Say what the others have to do that it has not.",)
    rests_on = ("table",)

    def files(self, desk: Desk) -> Sequence[str]:
        del desk
        return ()

    def run(self, desk: Desk) -> None:
        desk.remember(guess=desk.guess or ask_for(desk))

    def keep(self, desk: Desk) -> Kept:
        guess = desk.state.guess
        return Kept(said=(NO_GUESS if guess is None else f"The guess: {in_words(guess)}.",))


def in_words(guess: Guess) -> str:
    least = f"{guess.design} needs the least server CPU"
    return least if guess.by is None else f"{least}, and the next one {guess.by:g} times as much"


def check_guess(guess: Guess, setting: Setting) -> None:
    """UsageError for one that no result could meet."""
    if guess.design not in setting.designs:
        raise UsageError(f"--guess is {guess.design}; it must be {listed_or(setting.designs)}")
    if guess.by is not None and not 1 <= guess.by <= MOST_TIMES:
        raise UsageError(f"--by is {guess.by:g}; it must be a number from 1 to {MOST_TIMES:g}")


def listed_or(names: Sequence[str]) -> str:
    return listed(names).replace(" and ", " or ")


def ask_for(desk: Desk) -> Guess | None:
    """From the person at the terminal; None where there is nobody, or none is wanted."""
    names = ", ".join(desk.setting.designs)
    least = ask_until(desk, f"Least server CPU ({names}; Enter: no guess): ", Guess)
    if least is None:
        return None

    def by(answer: str) -> Guess:
        return Guess(least.design, float(answer.replace(",", ".")))

    question = "How many times as much for the next one, as 1.2 (Enter: no guess): "
    return ask_until(desk, question, by) or least


def ask_until(desk: Desk, question: str, guess_of: Callable[[str], Guess]) -> Guess | None:
    """Asks again after an answer that is no guess, before anything else is asked."""
    while answer := desk.ask(question):
        try:
            guess = guess_of(answer)
            check_guess(guess, desk.setting)
        except UsageError as error:
            desk.say(str(error))
        except ValueError:
            desk.say(f"{answer} is not a number.")
        else:
            return guess
    return None

"""How often verdicts on real servers are right: equal versions, and one that burns 5 % more.

    .venv/bin/python -m tests.e2e.verdict_rates                  40 races of each, some two hours
    .venv/bin/python -m tests.e2e.verdict_rates 2 --percent 5    2 of the planted regression

Run it on a quiet machine, after `make`. Each is `regatta versus --base --head --fail-over 2%` with
a budget of five minutes, of which most need one; a line says the outcome, and the last lines the
shares. Status 1 if fewer than 95 % of the planted regressions are found or more than 5 % of equals
are called different.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.commands import run
from tests.e2e.racing import environment, regatta
from tests.e2e.toy_servers import build_toy, versions

RACES = 40
PLANTED_PERCENT = 5
OPTIONS = ("--fail-over", "2%", "--budget", "5min", "--connections", "50", "--quiet", "--json")
REGRESSION = "regression"


def outcome(toy: Path, folder: Path, percent: float, number: int) -> tuple[str, str]:
    """The verdict, and what it rests on."""
    words = ("versus", *versions(toy, percent), *OPTIONS, "--seed", str(number))
    out = folder / f"{percent:g}-{number}"
    done = run(*regatta(*words, "--out", out), cwd=folder, env=environment(), timeout=600)
    if done.returncode not in {0, 1, 3}:
        return "failed", done.stderr.strip()
    verdict = json.loads(done.stdout)["verdict"]
    said = [f"{verdict['blocks']} blocks", verdict["why"]]
    for load in verdict["loads"]:
        for name in ("head_over_base", "base_again_over_base"):
            one = load[name]
            said.append(f"{name} {one['value']:.3f} ({one['low']:.3f} to {one['high']:.3f})")
    return verdict["outcome"], ", ".join(filter(None, said))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("races", nargs="?", type=int, default=RACES)
    parser.add_argument("--percent", nargs="*", type=int, default=(0, PLANTED_PERCENT))
    given = parser.parse_args()
    races, found = given.races, {percent: Counter[str]() for percent in given.percent}
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        toy = build_toy(folder)
        for number in range(races):
            for percent, outcomes in found.items():
                how, said = outcome(toy, folder, percent, number)
                outcomes[how] += 1
                print(f"{percent} % more: {how}; {said}", flush=True)
    for percent, outcomes in found.items():
        shares = ", ".join(f"{how} {count} of {races}" for how, count in outcomes.items())
        print(f"{percent} % more: {shares}")
    print(f"{time.monotonic() - begun_s:.0f} s")
    return int(
        any(
            outcomes[REGRESSION] < 0.95 * races if percent else outcomes[REGRESSION] > 0.05 * races
            for percent, outcomes in found.items()
        )
    )


if __name__ == "__main__":
    sys.exit(main())
